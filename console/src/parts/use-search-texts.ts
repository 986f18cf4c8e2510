import { useNavigate, useSearch } from "@tanstack/react-router";

type Texts<Name extends string> = { readonly [name in Name]?: string };

/**
 * Keeps texts in the page's address, so that a link leads to the same view. Returns the texts of these names and a function
 * that changes them. Empty texts are removed.
 */
export function useSearchTexts<Name extends string>(
	...names: readonly Name[]
): readonly [Texts<Name>, (changes: { readonly [name in Name]?: string | undefined }) => void] {
	const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
	const navigate = useNavigate();
	const texts: Texts<Name> = Object.fromEntries(
		names.flatMap((name) => {
			const value = search[name];
			return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
		}),
	) as Texts<Name>;
	const change = (changes: Texts<Name>) => {
		const next = Object.entries({ ...texts, ...changes }).filter(([, value]) => value !== "" && value !== undefined);
		void navigate({ to: ".", search: Object.fromEntries(next), replace: true });
	};
	return [texts, change];
}
