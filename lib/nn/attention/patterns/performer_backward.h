// What both ways back of performer share: every query reads the same sums (performer_backward.cpp,
// with the formulas), or those of the keys so far (performer_causal_backward.cpp).
#pragma once

#include "nn/attention/patterns/performer_sums.h"

namespace attn {

/// One head of one group: what it reads, the gradient at its output, and where its own go.
struct PerformerHeadBackward {
  const FeatureMap& map;
  const AttentionGroup& group;
  const HeadRows& rows;  ///< its output is the forward pass's, which is read
  const float* doutput;  ///< of the group's first query
  Index doutput_stride;
  float* dqueries;
  Index dqueries_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;

  float* dkey(const UnpaddedKeys& keys, Index n) const {
    return dkeys + keys.position(n) * dmemory_stride;
  }
  float* dvalue(const UnpaddedKeys& keys, Index n) const {
    return dvalues + keys.position(n) * dmemory_stride;
  }
};

struct PerformerBackwardScratch {
  FeatureTile keys, queries;
  TileRows values;
  TileMemory exponentials;  ///< [n, m] without ε
  TileMemory dfeatures;     ///< [n, m]
  TileMemory gradients;     ///< [n, K + 1]
  TileMemory out, divisors, panels, drows, state;
  TileMemory products;  ///< [queries, keys] of a causal tile
  PackedRows packed;
};

/// A tile's queries and their features; `exponentials` without ε.
void load_queries(const PerformerHeadBackward& head, Index first, Index n,
                  PerformerBackwardScratch& scratch);

/// g of query i, whose divisor is known → g [K + 1].
void make_gradient(const PerformerHeadBackward& head, Index i, float divisor, float* g);

/// dfeatures ⊙ exponentials, which are the gradients at the exponents, go back to the rows.
void features_backward(FeatureTile& tile, const FeatureMap& map, const float* exponentials,
                  float* dfeatures, float* drows);

/// Rows [n, K] to their places among all queries', or all keys' that are no padding.
void put_query_gradients(const PerformerHeadBackward& head, Index first, Index n, const float* drows);
void put_key_gradients(const PerformerHeadBackward& head, const UnpaddedKeys& keys, Index first, Index n,
                       const float* drows);

/// dqueries, dkeys and dvalues of a head whose queries see the keys up to their own.
void performer_causal_backward(const PerformerHeadBackward& head, const UnpaddedKeys& keys);

}  // namespace attn
