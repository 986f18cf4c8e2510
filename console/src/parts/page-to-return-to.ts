const CONSOLE = "/console/";

/**
 * Returns the console page to which a link leads back; the first page for any other address. The address is resolved as in a
 * browser before it is checked, because dot segments, backslashes and hosts change its target.
 */
export function pageToReturnTo(back: string | undefined, origin: string): string {
	if (back === undefined || !URL.canParse(back, origin)) return CONSOLE;
	const url = new URL(back, origin);
	const isPage = url.origin === origin && url.pathname.startsWith(CONSOLE) && !url.pathname.startsWith(`${CONSOLE}/`);
	return isPage ? url.pathname + url.search + url.hash : CONSOLE;
}
