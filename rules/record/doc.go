// Package record reads the games, encodings, bot moves and regret matching
// rows that an independent implementation recorded, and replays the games
// through rules.Game and rules.Games.
//
// Conventions:
//   - A file is JSON lines, plain or gzip-compressed. Reading is strict: a field
//     that is unknown, missing, null or of another type is an error that names
//     the file and the line.
//   - Recorded hands are in arrival order: removing a slot shifts later ones
//     left, a drawn card goes last. Type Hand translates between their slot
//     actions and rules.Action.
//   - What a file says is read as it is, wrong facts too; Verify finds those.
package record
