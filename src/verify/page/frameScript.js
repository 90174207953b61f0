// Runs in the sandboxed frame, which has an origin of its own and no network: starts a worker for each script that the page sends.
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  const { script, input } = event.data;
  const [port] = event.ports;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url);
  worker.addEventListener("message", ({ data }) => port.postMessage(data));
  worker.addEventListener("error", (error) => {
    error.preventDefault();
    port.postMessage({ stopped: error.message });
  });
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name
  worker.postMessage(input);
});
