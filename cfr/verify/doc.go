// Package verify holds this module's code to files recorded from an
// independent implementation: games, encodings, bots' moves, regret matching.
//
// Conventions:
//   - Everything is checked twice: "scalar" is one game or one row at a time,
//     "lockstep" is all states of a configuration as rows of one batch, at
//     whatever plies they are.
//   - An item is one comparison: a fact of a ply, a whole observation, a bot's
//     move, a policy of one row.
//   - What differs from the recording is counted and described; what can't be
//     compared at all (an unreadable file, a game that is nowhere) is an error.
package verify
