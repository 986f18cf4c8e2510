/** sysexits.h: the command line was not understood, or asks for what this store does not have. */
export const EXIT_USAGE = 64;
