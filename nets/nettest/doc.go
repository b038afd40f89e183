// Package nettest holds the suites that every engine and every trainer of
// package nets has to pass, and the slow float64 implementations that serve
// as their oracles. Numbers are compared within a tolerance where kernels may
// round differently, and bit for bit where package nets promises bits.
package nettest
