/** Starts the application in its page. */
import { createRoot } from "react-dom/client";
import { Application } from "./application.tsx";
import { openSession } from "./session.ts";

const host = document.querySelector("#application");
if (host !== null) createRoot(host).render(<Application />);
void openSession();
