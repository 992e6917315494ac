/** A test keeps this equal to package.json. Reading that file would slow down every start of the recorder. */
export const VERSION = '0.1.0'
