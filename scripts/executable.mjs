// Makes the files named on the command line executable: tsc writes them without the bit.
import { chmodSync } from 'node:fs';

for (const file of process.argv.slice(2)) chmodSync(file, 0o755);
