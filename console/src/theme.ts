import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "turnpike-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

/** What the reader chose; `system` where nothing, or the browser keeps nothing. */
export function themeChoice(): ThemeChoice {
	try {
		const kept = localStorage.getItem(KEY);
		return kept === "light" || kept === "dark" ? kept : "system";
	} catch {
		return "system";
	}
}

export function chooseTheme(choice: ThemeChoice): void {
	try {
		if (choice === "system") localStorage.removeItem(KEY);
		else localStorage.setItem(KEY, choice);
	} catch {
		// Kept for this page alone.
	}
	applyTheme(choice);
	for (const listener of listeners) listener();
}

/** The tokens follow the root's attribute; without one, the system. */
export function applyTheme(choice = themeChoice()): void {
	if (choice === "system") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = choice;
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	dark.addEventListener("change", listener);
	return () => {
		listeners.delete(listener);
		dark.removeEventListener("change", listener);
	};
}

const shown = (): "light" | "dark" => {
	const choice = document.documentElement.dataset.theme;
	return choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
};

/** The theme that is shown now. */
export const useTheme = (): "light" | "dark" => useSyncExternalStore(subscribe, shown);
