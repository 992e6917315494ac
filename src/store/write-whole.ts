import { writeSync, writevSync } from 'node:fs'

/** Hands all of the pieces to the kernel, in as few calls as it takes. */
export function writeAll(fd: number, pieces: readonly Uint8Array[]): void {
  for (let start = 0; start < pieces.length; start += PIECES_A_CALL) {
    const some = pieces.slice(start, start + PIECES_A_CALL)
    const wanted = some.reduce((sum, piece) => sum + piece.length, 0)
    const written = writevSync(fd, some)
    // A short write is how a disk that is nearly full answers: the rest then fails with the real error.
    if (written < wanted) writeWhole(fd, Buffer.concat(some).subarray(written), wanted - written)
  }
}

/** The same for the beginning of some bytes. */
export function writeWhole(fd: number, bytes: Uint8Array, length: number): void {
  for (let at = 0; at < length;) at += writeSync(fd, bytes, at, length - at)
}

const PIECES_A_CALL = 1000 // the kernel takes 1024
