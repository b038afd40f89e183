// Package rules implements Lost Cities twice: Game, one game written to be
// read, and Games, thousands of games as columns that step in lockstep. Game
// is the oracle: Games equals it bit for bit, and tests hold it to that.
//
// Conventions:
//   - A card is a type: colour·(ranks+1) + rank, where rank 0 is a wager and
//     rank 1 the lowest number. The wagers of one colour are one type.
//   - An action names a card type, never a hand slot: see Config.Play,
//     Config.Discard, Config.DrawDeck and Config.DrawPile.
//   - A turn is two plies of one player, card then draw.
//   - Letters in shapes: B games, P = 2 players, C colours, T card types,
//     A actions.
package rules
