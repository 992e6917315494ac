/** Kept equal to package.json by a test: reading that file would cost the recorder time at every start. */
export const VERSION = '0.1.0'
