import { expect, test } from "bun:test";
import { readEvmAddress } from "./evm-address.ts";

const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const LOWER = CHECKSUMMED.toLowerCase();

test("an address is read in lower case: from small letters, from capitals, and with the right checksum", async () => {
	for (const text of [LOWER, `0x${LOWER.slice(2).toUpperCase()}`, CHECKSUMMED]) expect(await readEvmAddress(text)).toBe(LOWER);
	const digitsOnly = `0x${"12".repeat(20)}`;
	expect(await readEvmAddress(digitsOnly)).toBe(digitsOnly);
});

test("a wrong checksum is no address", async () => {
	expect(await readEvmAddress(CHECKSUMMED.replace("aA", "Aa"))).toBeNull();
	expect(await readEvmAddress(CHECKSUMMED.replace(/d$/, "D"))).toBeNull();
});

test.each([
	"",
	"0x",
	LOWER.slice(2),
	LOWER.slice(0, -1),
	`${LOWER}0`,
	` ${LOWER}`,
	`${LOWER}\n`,
	`0X${LOWER.slice(2)}`,
	LOWER.replace("a", "g"),
])("%j is no address", async (text) => {
	expect(await readEvmAddress(text)).toBeNull();
});
