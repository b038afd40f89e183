// Package cfr learns policies by counterfactual regret minimisation with
// networks in place of tables (Deep CFR and its relatives). It sees a game
// only through vec.Batch, so the same learner plays Lost Cities and Kuhn poker.
//
// Conventions:
//   - Letters in shapes: N rows, A actions, W mask words, L legal actions
//     summed over rows (a ragged column: row r owns entries Off[r]:Off[r+1]).
//   - Utilities are in units of Options.Scale game points everywhere inside.
//   - Values and advantages of a row are in the frame of its mover; the value
//     of a tree node carried upwards is in the frame of player 0.
//   - "Current" is the policy that regret matching makes of the newest
//     regrets; "average" is the one that converges. Nothing is called policy
//     without saying which.
package cfr

// Messages of the panics raised for a caller's mistake.
const (
	badLength = "cfr: slice length mismatch"
)
