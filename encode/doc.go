// Package encode turns games into network inputs and network outputs into
// moves. A Layout is one way to do it: what each input holds, and which action
// each output stands for. Cards is the default; Slots is the layout of earlier
// work, kept for measurements on the same work.
//
// Conventions:
//   - Layouts never change and serve any number of goroutines and batches.
//   - Each view is written twice: for rows of rules.Games, on the games' own
//     pool and without allocation, and for one rules.Game, plainly. The second
//     is the oracle of the first: both give the same bits.
//   - A Layout shows a player what he may know. Hidden cards are shown only by
//     a Critic, whose methods have other names, so that nothing that plays can
//     be handed one.
//   - Letters in shapes: D features, H cards in a hand, K cards of a colour;
//     B, C, T and A as in package rules.
package encode

//go:generate go run ./internal/gendoc ../docs/lost-cities.md

// Messages of the panics raised for a caller's mistake.
const (
	badLength = "encode: slice length mismatch"
	badGame   = "encode: games of another configuration"
	badPlayer = "encode: player is neither 0 nor 1"
	badAction = "encode: action out of range"
	badSlot   = "encode: action of an empty hand slot"
	badCard   = "encode: action of a card that is not in the hand"
	badPerm   = "encode: not a permutation of the colours"
	badBatch  = "encode: batch of another kind"
)
