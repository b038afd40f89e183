// Package tabular solves games that are small enough to look at as a whole:
// exact counterfactual regret minimisation, the same by samples, and the exact
// best responses that say how good a policy is. It sees a game only through
// vec.Enumerable.
//
// Conventions:
//   - Letters in shapes: H histories, E ends, I information sets, Q sequences,
//     S actions of histories.
//   - An information set is all that a player has seen, in its order: recall is
//     perfect, whatever a batch would show a network.
//   - A sequence is an action at an information set; sequences 0 and 1 stand for
//     no action yet, of each player. Policies, regrets and reach probabilities
//     are [Q] vectors, as in the sequence form (von Stengel 1996).
//   - Values are in the game's own unit, float64, for player 0 unless a player
//     is named.
package tabular

// Messages of the panics raised for a caller's mistake.
const (
	badPolicy = "tabular: policy of another tree"
	badGame   = "tabular: one information set, different legal actions"
)
