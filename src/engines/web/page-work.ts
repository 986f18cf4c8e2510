import Type, { type Static } from "typebox";

/** The message to a child: the bytes of a page, or a site's rules with the address to check. */
export type WebJob =
	| {
			readonly kind: "page";
			readonly bytes: Uint8Array;
			/** The source of the bytes, against which links are resolved. */
			readonly url: string;
			/** The charset in the answer's header. */
			readonly charset: string | null;
			readonly isHtml: boolean;
	  }
	| {
			readonly kind: "robots";
			/** The site's robots.txt. */
			readonly rules: string;
			readonly rulesUrl: string;
			readonly url: string;
			readonly agent: string;
	  };

export const ReadPage = Type.Object({
	title: Type.String(),
	/** Markdown; unchanged text if the page is not HTML. */
	content: Type.String(),
	/** The date in the page; "" if it has none. */
	date: Type.String(),
	/** The address at which the page offers its Markdown. */
	markdownUrl: Type.Union([Type.String(), Type.Null()]),
	/** True if there is almost no text, and scripts may create it. */
	needsScripts: Type.Boolean(),
});
export type ReadPage = Static<typeof ReadPage>;

export const WebDone = Type.Object({
	id: Type.Integer(),
	page: Type.Optional(ReadPage),
	isAllowed: Type.Optional(Type.Boolean()),
	/** The bytes are not text. */
	fault: Type.Optional(Type.String()),
});
export type WebDone = Static<typeof WebDone>;
