/**
 * Patterns for parts of an upstream's address that an error must not reveal, whatever the secrets are. They match its
 * decoded text.
 */

/** In nested text, line ends and slashes are escaped once more. */
const BEGINS = String.raw`(?:(?<![\w.-])|(?<=\\[nrtbf]))`;
const USER = 512;
const PASSWORD = 512;
/** Excludes a port with a path: `//host:8545/v2/a@b` has no password. */
const NO_PORT = String.raw`(?!\d{1,5}(?:[/?#\s,;)\]]|$))`;

/**
 * Matches `user:password@` of an address, with the characters that a password may have unescaped; PHP escapes a slash
 * by a backslash.
 */
const IN_ADDRESS = String.raw`/\\?/(?:[^\s/?#@:"<>]{0,${USER}}:${NO_PORT}[^\s/"<>]{1,${PASSWORD}}|[^\s/?#@"<>]{1,${USER}})@`;
/** Matches the same without a scheme before it. */
const BARE = String.raw`${BEGINS}[\w.%+~-]{1,64}:[^\s/@:"'<>,;]{1,256}@(?=[\w[])`;

/** Matches addresses outside the public internet (RFC 1122 3.2.1.3, 1918, 3927, 6598). */
const IPV4 = [
	String.raw`(?:10|127)(?:\.\d{1,3}){3}`,
	String.raw`192\.168(?:\.\d{1,3}){2}`,
	String.raw`169\.254(?:\.\d{1,3}){2}`,
	String.raw`172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}`,
	String.raw`100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2}`,
	String.raw`0(?:\.0){3}`,
].join("|");
/** RFC 4193, 4291; some programs write no brackets around them. */
const IPV6 = String.raw`::1|f[cd][0-9a-f]{2}:(?=[0-9a-f]{0,4}:)[0-9a-f:]{2,39}|fe80:[0-9a-f:]{2,60}(?:%[\w.-]{1,20})?`;
/** RFC 6762 with its appendix G, RFC 8375; names of Kubernetes; what AWS makes of an address. */
const SUFFIXES = String.raw`internal|local|localdomain|lan|intranet|svc|corp|home\.arpa|home|private`;
const NAMES = String.raw`[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.(?:${SUFFIXES})|localhost|ip(?:-\d{1,3}){4}`;
const PORT = String.raw`(?::\d{1,5})?`;

const ADDRESSES = [
	String.raw`(?<![\d.])(?:${IPV4})${PORT}(?!\d)`,
	String.raw`\[(?:${IPV6})\]${PORT}`,
	String.raw`(?<![\w.:])(?:${IPV6})${PORT}(?![\w:])`,
	String.raw`${BEGINS}(?:${NAMES})${PORT}(?![\w-])`,
];

/** Maximum length of a match. */
export const LONGEST_INNER = USER + PASSWORD + 8;

/**
 * Returns the pattern of inner addresses.
 * @param hosts configured host names. Only names without a dot count, which belong to the inner network. A plain word
 * counts only at the place of an address, since many are also names of programs
 */
export function innerPattern(hosts: readonly string[]): string {
	const names = hosts.filter((host) => /^[a-z0-9_-]+$/i.test(host));
	const telling = names.filter((host) => /[\d_-]/.test(host));
	const placed = [
		...names.flatMap((host) => [String.raw`(?<![\w.-])${host}:\d{1,5}`, String.raw`(?<=/\\?/)${host}${PORT}(?![\w.-])`]),
		...telling.map((host) => String.raw`${BEGINS}${host}(?![\w-])`),
	];
	return `(?<credentials>${IN_ADDRESS})|(?<bare>${BARE})|(?<address>${[...placed, ...ADDRESSES].join("|")})`;
}
