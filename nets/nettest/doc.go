// Package nettest holds the suites that every engine and every trainer of
// package nets has to pass, and the slow float64 implementations that serve
// as their oracles. Numbers are compared within a tolerance where kernels may
// round differently, and bit for bit where package nets promises bits.
//
// The suites are written once, for any architecture: of each they know some
// shapes and the forward pass as plain operations, from which a tape derives
// the backward pass. Differences of the loss check the tape.
package nettest
