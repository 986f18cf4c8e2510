export type Instant = string;

export type Day = string;

export type Amount = string;
