// Package bots holds the scripted opponents: yardsticks of known strength.
//
// Conventions:
//   - A bot sees what its player may see and nothing else: the view of one
//     row. Its decision is written once, over that view, which both rules.Game
//     and rules.Games can fill, so one cannot play differently from the other.
//   - A bot has no memory. Its random choices are a function of (bot seed,
//     game key, ply): batch, order and workers never change them.
//   - Sets of cards are those of rules.Games; in a set of numbers bit r-1 is
//     rank r.
//   - Symbols of the heuristics: n and s are the count and the faces of a set
//     of numbers, "open" is a started expedition, "live" a hand card that the
//     own expedition can still take.
package bots
