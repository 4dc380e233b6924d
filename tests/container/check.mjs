// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// node check.mjs < LIST: print what is wrong in a JSON list of manifests of
// Kubernetes, by the schemas of the npm package kubernetes-models. They accept
// fields that they do not know. So each object is given to them in a proxy, which
// notes the fields that were looked at: any other field is unknown.
import { readFileSync } from "node:fs";

// The schema of a kind: its name is made of the group, the version and the kind.
function schemaName(apiVersion, kind) {
  const [group, version] = apiVersion.includes("/")
    ? apiVersion.split("/") : ["core", apiVersion];
  const upper = (word) => word[0].toUpperCase() + word.slice(1);
  return "IoK8sApi" + upper(group.split(".")[0]) + upper(version) + kind;
}

// The value, in proxies. unseen is a set of the paths that nobody has looked at.
function watched(value, path, unseen) {
  if (value === null || typeof value !== "object")
    return value;
  const copy = Array.isArray(value) ? [] : {};
  for (const [key, inner] of Object.entries(value)) {
    unseen.add(`${path}/${key}`);
    copy[key] = watched(inner, `${path}/${key}`, unseen);
  }
  return new Proxy(copy, {
    get(target, key) {
      unseen.delete(`${path}/${String(key)}`);
      return target[key];
    },
  });
}

// Are all parents of this path known?
function isFirst(path, unseen) {
  return ![...unseen].some((other) => path.startsWith(other + "/"));
}

for (const manifest of JSON.parse(readFileSync(0, "utf8"))) {
  const name = schemaName(manifest.apiVersion, manifest.kind);
  const { validate } = await import(`kubernetes-models/_schemas/${name}`);
  const unseen = new Set();
  if (!validate(watched(manifest, manifest.kind, unseen)))
    for (const error of validate.errors)
      console.log(`${manifest.kind}${error.instancePath}: ${error.keyword}`,
                  JSON.stringify(error.params));
  for (const path of unseen)
    if (isFirst(path, unseen))
      console.log(`${path}: unknown`);
}
