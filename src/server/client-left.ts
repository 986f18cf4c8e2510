import type { MeteredAnswer } from "./endpoint.ts";

/** The status that a post records when the caller had left. */
export const CLIENT_LEFT = 499;

/** What a request ends with whose caller has left: nobody reads it. */
export const LEFT_ANSWER: MeteredAnswer = { status: CLIENT_LEFT, type: "text/plain", body: null };
