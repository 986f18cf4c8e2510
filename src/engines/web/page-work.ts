import Type, { type Static } from "typebox";

/** What goes to a child: the bytes of a page, or rules of a site with the address that is asked about. */
export type WebJob =
	| {
			readonly kind: "page";
			readonly bytes: Uint8Array;
			/** Where the bytes came from; links are completed by it. */
			readonly url: string;
			/** As the answer's header names it. */
			readonly charset: string | null;
			readonly isHtml: boolean;
	  }
	| {
			readonly kind: "robots";
			/** What the site's robots.txt says. */
			readonly rules: string;
			readonly rulesUrl: string;
			readonly url: string;
			readonly agent: string;
	  };

export const ReadPage = Type.Object({
	title: Type.String(),
	/** Markdown; as it is where the page is no HTML. */
	content: Type.String(),
	/** As the page has it; "" where it has none. */
	date: Type.String(),
	/** Where the page says that it is in Markdown. */
	markdownUrl: Type.Union([Type.String(), Type.Null()]),
	/** True where there is next to no text, and scripts that may bring it. */
	needsScripts: Type.Boolean(),
});
export type ReadPage = Static<typeof ReadPage>;

export const WebDone = Type.Object({
	id: Type.Integer(),
	page: Type.Optional(ReadPage),
	isAllowed: Type.Optional(Type.Boolean()),
	/** The bytes are no text. */
	fault: Type.Optional(Type.String()),
});
export type WebDone = Static<typeof WebDone>;
