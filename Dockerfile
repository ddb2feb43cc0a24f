# One image for all processes; which one runs is the command. Debian, since Temporal's core has no musl build.
FROM node:22-bookworm-slim AS build
WORKDIR /killproof
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && node dist/services/worker/bundle.js dist/workflow-bundle.js && npm prune --omit=dev

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /killproof
COPY --from=build /killproof/package.json ./
COPY --from=build /killproof/node_modules ./node_modules
COPY --from=build /killproof/dist ./dist
COPY --from=build /killproof/scenarios ./scenarios
USER node
