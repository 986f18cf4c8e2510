import Type, { type TString } from "typebox";

/** Lists that are known only when the whole service is put together. */
export type ListName = "EndpointName" | "NetworkName";

/** Keyword of a schema that names the list which its text is one of. */
export const LIST_KEYWORD = "x-list";

/** A text that is one of a list: the API document refers to the list, and the code that reads the text checks it. */
export const listedText = (list: ListName, pattern: string): TString => Type.String({ pattern, [LIST_KEYWORD]: list });
