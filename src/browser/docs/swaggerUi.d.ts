declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  import type { ReactNode } from "react";

  /** The part of Swagger UI that this page uses. */
  export interface SwaggerSystem {
    readonly React: { readonly createElement: (...given: readonly unknown[]) => ReactNode };
    readonly layoutActions: { readonly show: (place: readonly unknown[], isShown: boolean) => void };
    readonly preauthorizeApiKey: (scheme: string, key: string) => void;
  }
  interface Layout {
    readonly getComponent: (name: string, isContainer: true) => unknown;
  }
  type Wrapped = (Original: unknown, system: SwaggerSystem) => (props: Record<string, unknown>) => ReactNode;

  export default function SwaggerUIBundle(options: {
    readonly spec: object;
    readonly domNode: Element;
    readonly plugins: readonly ((system: SwaggerSystem) => {
      readonly fn: {
        readonly resolveSubtree: (
          description: unknown,
          place: readonly string[],
        ) => Promise<{ readonly errors: readonly unknown[]; readonly spec: unknown }>;
      };
      readonly components: Readonly<Record<string, (props: Layout) => ReactNode>>;
      readonly wrapComponents: Readonly<Record<string, Wrapped>>;
    })[];
    readonly [option: string]: unknown;
  }): SwaggerSystem;
}
