import { useEffect, useState } from "react";

/** Returns a value once it has not changed for a moment, so that typing does not send a query per letter. */
export function useSettled<T>(value: T, ms = 250): T {
	const [settled, setSettled] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), ms);
		return () => clearTimeout(timer);
	}, [value, ms]);
	return settled;
}
