/** A hash, an address or an id: cut to what fits, whole in its title and for who selects it. */
export function Hash({ value, none = "none" }: { readonly value: string | null; readonly none?: string }) {
	if (value === null) return <span className="quiet">{none}</span>;
	return (
		<span className="hash" title={value}>
			{value}
		</span>
	);
}
