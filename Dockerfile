# attn-demo with its models and its page, for those without Debian:
#
#   docker build -t attn-demo .
#   docker run --rm -p 8080:8080 attn-demo    # then open the address that it prints, with
#                                             # localhost in the place of 0.0.0.0
#   docker run --rm attn-demo attn-demo translate "The group went home"
#
# scripts/check_distributions.sh --container runs these steps in a bare root without a container
# engine.
FROM debian:trixie-slim AS build
WORKDIR /src
COPY . .
RUN bash scripts/container.sh build /packages

FROM debian:trixie-slim
COPY --from=build /packages/attn-demo_*.deb /tmp/attn-demo.deb
COPY scripts/container.sh /tmp/container.sh
RUN bash /tmp/container.sh install /tmp/attn-demo.deb && rm /tmp/attn-demo.deb /tmp/container.sh
USER nobody
EXPOSE 8080
CMD ["attn-demo", "serve", "--host", "0.0.0.0", "--port", "8080", "--name", "localhost"]
