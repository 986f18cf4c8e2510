import type { WorkRefusal } from "../journal/records.ts";
import type { SidePage } from "../server/index.ts";

export interface PublicPagesDeps {
	/** Returns why new requests are refused; null if they are accepted. */
	readonly workRefusal: () => WorkRefusal | null;
	/** Returns the documentation page as HTML. */
	readonly docs: () => Uint8Array<ArrayBuffer>;
}

/** Returns the pages beside the API that every caller may read: liveness, readiness and documentation. */
export function publicPages({ workRefusal, docs }: PublicPagesDeps): SidePage[] {
	return [
		{ path: "/healthz", answer: () => new Response("ok\n") },
		{
			path: "/readyz",
			answer: () => {
				const refusal = workRefusal();
				return refusal === null ? new Response("ready\n") : new Response(`not ready: ${refusal.message}\n`, { status: 503 });
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
