// Interop says what Go's own packages for signed notes and transparent logs make of ours, and makes notes and proofs
// for us to check. It reads one JSON object and writes one.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A Request is what is to be opened, checked and made.
type Request struct {
	SignerKey    string   // signs Text
	Text         string   // the text of a note
	VerifierKeys []string // open Notes
	Notes        []string
	Records      [][]byte // the log's records, from the first
	Claims       []Claim
}

// A Claim is that Path leads from record Old, or from the tree of Old records, whose hash is Hash, to the tree of
// Size records, whose hash is Root.
type Claim struct {
	IsRecord   bool
	Old, Size  int64
	Hash, Root []byte
	Path       [][]byte
}

// An Answer is what became of a Request.
type Answer struct {
	Note      string       // Text, signed
	Opened    []Opened     // for each of Notes
	Roots     [][]byte     // of the trees of 0, 1, … records
	Inclusion [][][][]byte // [size][index]: the path
	Continues [][][][]byte // [size][old]: the path
	Right     []bool       // for each of Claims
}

// Opened is who signed a note, or why it can't be opened.
type Opened struct {
	Error, Text string
	Verified    []string
	Unverified  []string
}

func main() {
	var request Request
	must(json.NewDecoder(os.Stdin).Decode(&request))
	answer := Answer{Note: sign(request.SignerKey, request.Text)}
	for _, text := range request.Notes {
		answer.Opened = append(answer.Opened, open(text, request.VerifierKeys))
	}
	stored := store(request.Records)
	for size := int64(0); size <= int64(len(request.Records)); size++ {
		root, err := tlog.TreeHash(size, stored)
		must(err)
		answer.Roots = append(answer.Roots, root[:])
		answer.Inclusion = append(answer.Inclusion, inclusion(size, stored))
		answer.Continues = append(answer.Continues, continues(size, stored))
	}
	for _, claim := range request.Claims {
		answer.Right = append(answer.Right, check(claim) == nil)
	}
	must(json.NewEncoder(os.Stdout).Encode(answer))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sign(key, text string) string {
	signer, err := note.NewSigner(key)
	must(err)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	must(err)
	return string(signed)
}

func open(text string, keys []string) Opened {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		must(err)
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	if err != nil {
		return Opened{Error: err.Error()}
	}
	return Opened{Text: opened.Text, Verified: names(opened.Sigs), Unverified: names(opened.UnverifiedSigs)}
}

func names(signatures []note.Signature) []string {
	all := []string{}
	for _, signature := range signatures {
		all = append(all, signature.Name)
	}
	return all
}

func store(records [][]byte) tlog.HashReaderFunc {
	var all []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, index := range indexes {
			hashes = append(hashes, all[index])
		}
		return hashes, nil
	})
	for i, record := range records {
		added, err := tlog.StoredHashes(int64(i), record, reader)
		must(err)
		all = append(all, added...)
	}
	return reader
}

func inclusion(size int64, stored tlog.HashReader) [][][]byte {
	paths := [][][]byte{}
	for index := int64(0); index < size; index++ {
		proof, err := tlog.ProveRecord(size, index, stored)
		must(err)
		paths = append(paths, toBytes(proof))
	}
	return paths
}

func continues(size int64, stored tlog.HashReader) [][][]byte {
	// Nothing proves that a log continues an empty one.
	paths := [][][]byte{{}}
	for old := int64(1); old <= size; old++ {
		proof, err := tlog.ProveTree(size, old, stored)
		must(err)
		paths = append(paths, toBytes(proof))
	}
	return paths
}

func check(claim Claim) error {
	path := make([]tlog.Hash, len(claim.Path))
	for i, hash := range claim.Path {
		path[i] = toHash(hash)
	}
	if claim.IsRecord {
		return tlog.CheckRecord(path, claim.Size, toHash(claim.Root), claim.Old, toHash(claim.Hash))
	}
	return tlog.CheckTree(path, claim.Size, toHash(claim.Root), claim.Old, toHash(claim.Hash))
}

func toHash(bytes []byte) (hash tlog.Hash) {
	if copy(hash[:], bytes) != len(hash) || len(bytes) != len(hash) {
		must(fmt.Errorf("a hash has %d bytes", len(bytes)))
	}
	return hash
}

func toBytes(path []tlog.Hash) [][]byte {
	all := [][]byte{}
	for _, hash := range path {
		hash := hash
		all = append(all, hash[:])
	}
	return all
}
