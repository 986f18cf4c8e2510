import Type, { type TString } from "typebox";

/** Lists that are known only when the whole service is assembled. */
export type ListName = "EndpointName" | "NetworkName";

/** Schema keyword that names the list of allowed texts. */
export const LIST_KEYWORD = "x-list";

/**
 * Returns the schema of a text that is one of a list: the API document refers to the list, and the code that reads the
 * text checks it.
 */
export const listedText = (list: ListName, pattern: string): TString => Type.String({ pattern, [LIST_KEYWORD]: list });
