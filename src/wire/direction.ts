/** Who sent it: `c2s` from client to server, `s2c` from server to client. */
export type Direction = 'c2s' | 's2c'
