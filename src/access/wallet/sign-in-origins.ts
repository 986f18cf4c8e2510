/**
 * Returns the origins for which wallets sign in, with the port that the server listens on. The request's Host is never used.
 */
export function signInOrigins(publicUrl: string | undefined, port: number): readonly URL[] {
	const addresses = publicUrl === undefined ? [`http://localhost:${port}`, `http://127.0.0.1:${port}`] : [publicUrl];
	return addresses.map((address) => new URL(new URL(address).origin));
}
