/** Where wallets sign in for, `port` being the one really listened on: never what a request says in Host. */
export function signInOrigins(publicUrl: string | undefined, port: number): readonly URL[] {
	const addresses = publicUrl === undefined ? [`http://localhost:${port}`, `http://127.0.0.1:${port}`] : [publicUrl];
	return addresses.map((address) => new URL(new URL(address).origin));
}
