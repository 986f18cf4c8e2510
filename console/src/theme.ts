import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "turnpike-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

/** Returns the reader's choice; `system` if there is none, or the browser stores nothing. */
export function themeChoice(): ThemeChoice {
	try {
		const storedChoice = localStorage.getItem(KEY);
		return storedChoice === "light" || storedChoice === "dark" ? storedChoice : "system";
	} catch {
		return "system";
	}
}

export function chooseTheme(choice: ThemeChoice): void {
	try {
		if (choice === "system") localStorage.removeItem(KEY);
		else localStorage.setItem(KEY, choice);
	} catch {
		// The choice applies to this page only.
	}
	applyTheme(choice);
	for (const listener of listeners) listener();
}

/** Applies a theme by the root's attribute; without it the system's theme applies. */
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

const currentTheme = (): "light" | "dark" => {
	const choice = document.documentElement.dataset.theme;
	return choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
};

/** Returns the current theme. */
export const useTheme = (): "light" | "dark" => useSyncExternalStore(subscribe, currentTheme);
