/** A section of the application, as the heads of its pages and of the API's page link to it. */
export interface Section {
  readonly href: string;
  readonly text: string;
  /** Whether it is open to strangers. */
  readonly isPublic: boolean;
  /** The paths that belong to it. */
  readonly covers: RegExp;
}

/** The application's sections, in order. */
export const SECTIONS: readonly Section[] = [
  { href: "/", text: "Home", isPublic: false, covers: /^\/(dapps\/.*)?$/ },
  { href: "/presets", text: "Presets", isPublic: false, covers: /^\/(presets|random)(\/|$)/ },
  { href: "/functions", text: "Functions", isPublic: false, covers: /^\/functions$/ },
  { href: "/networks", text: "Networks", isPublic: false, covers: /^\/networks$/ },
  { href: "/explorer", text: "Explorer", isPublic: true, covers: /^\/explorer(\/|$)/ },
];
