const CONSOLE = "/console/";

/**
 * The page of the console that a link leads back to; the console's first page for every other address. The address is
 * resolved as a browser would do it before it is looked at: dot segments, backslashes and hosts change where it leads.
 */
export function pageToReturnTo(back: string | undefined, origin: string): string {
	if (back === undefined || !URL.canParse(back, origin)) return CONSOLE;
	const url = new URL(back, origin);
	const isPage = url.origin === origin && url.pathname.startsWith(CONSOLE) && !url.pathname.startsWith(`${CONSOLE}/`);
	return isPage ? url.pathname + url.search + url.hash : CONSOLE;
}
