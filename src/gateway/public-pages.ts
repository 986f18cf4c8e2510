import type { WorkRefusal } from "../journal/records.ts";
import type { SidePage } from "../server/index.ts";

export interface PublicPagesDeps {
	/** null: requests are taken. */
	readonly workRefusal: () => WorkRefusal | null;
	/** HTML. */
	readonly docs: () => Uint8Array<ArrayBuffer>;
}

/** Pages beside the API that every caller may see: whether the node lives and takes requests, and what it answers. */
export function publicPages({ workRefusal, docs }: PublicPagesDeps): SidePage[] {
	return [
		{ path: "/healthz", answer: () => new Response("ok\n") },
		{
			path: "/readyz",
			answer: () => {
				const full = workRefusal();
				return full === null ? new Response("ready\n") : new Response(`not ready: ${full.message}\n`, { status: 503 });
			},
		},
		{ path: "/docs", answer: () => html(docs()) },
		{ path: "/", answer: () => new Response(null, { status: 302, headers: { Location: "/docs" } }) },
	];
}

function html(page: Uint8Array<ArrayBuffer>): Response {
	return new Response(page, {
		headers: {
			"Content-Type": "text/html; charset=utf-8",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
		},
	});
}
