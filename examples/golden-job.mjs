// The part of an agent that its authors change: the prompt, the tools, the limits.
const PRICES = { tea: 3, coffee: 4 };

export const job = {
  task: 'What do tea and gold cost?',
  system: 'You sell drinks. Look prices up; never guess one.',
  tools: [
    {
      name: 'price_of',
      description: 'The price of an item, in euros.',
      input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
      readOnly: true,
      execute({ item }) {
        if (PRICES[item] === undefined) throw new Error(`${item} is not for sale`);
        return { euros: PRICES[item] };
      },
    },
  ],
  budget: { steps: 5 },
};
