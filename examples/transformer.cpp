// A small transformer that learns two sonnets by heart, letter by letter: embedding, causal attention with four heads,
// layers in pairs, Adam; then it recites. Draws the loss to transformer.svg.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;
using namespace cq::tree_operators;
using F = cq::Array<float>;

// William Shakespeare, Sonnets 18 and 116 (1609).
const std::string kText = R"(Shall I compare thee to a summer's day?
Thou art more lovely and more temperate:
Rough winds do shake the darling buds of May,
And summer's lease hath all too short a date;
Sometime too hot the eye of heaven shines,
And often is his gold complexion dimm'd;
And every fair from fair sometime declines,
By chance or nature's changing course untrimm'd;
But thy eternal summer shall not fade,
Nor lose possession of that fair thou ow'st;
Nor shall death brag thou wander'st in his shade,
When in eternal lines to time thou grow'st:
So long as men can breathe or eyes can see,
So long lives this, and this gives life to thee.

Let me not to the marriage of true minds
Admit impediments. Love is not love
Which alters when it alteration finds,
Or bends with the remover to remove:
O no! it is an ever-fixed mark
That looks on tempests and is never shaken;
It is the star to every wandering bark,
Whose worth's unknown, although his height be taken.
Love's not Time's fool, though rosy lips and cheeks
Within his bending sickle's compass come:
Love alters not with his brief hours and weeks,
But bears it out even to the edge of doom.
If this be error and upon me proved,
I never writ, nor no man ever loved.
)";

constexpr int64_t kContext = 32, kWidth = 48, kHeads = 4, kBatch = 32;

/// One layer: attention, then a network for each letter; both add to their inputs.
template <class A>
struct Block {
  A qkv, out, up, down;  // [width, 3 width], [width, width], [width, 4 width], [4 width, width]
  A scale1, shift1, scale2, shift2;
};
template <class A>
struct Transformer {
  A letters, positions;  // [alphabet, width], [context, width]
  std::vector<Block<A>> blocks;
  A scale, shift;
};

/// The scores of the next letter after each of [batch, context] letters.
const auto kScores = [](const auto& net, auto letters) {
  auto x = take(net.letters, letters, 0) + net.positions;
  const int64_t batch = letters.shape()[0];
  for (const auto& block : net.blocks) {
    auto qkv = split(matmul(layer_norm(x, block.scale1, block.shift1, -1), block.qkv), 3, -1);
    auto heads = [&](auto v) { return v.reshape({batch, kContext, kHeads, kWidth / kHeads}); };
    auto mixed = dot_product_attention(heads(qkv[0]), heads(qkv[1]), heads(qkv[2]), {.causal = true});
    x = x + matmul(mixed.reshape({batch, kContext, kWidth}), block.out);
    x = x + matmul(gelu(matmul(layer_norm(x, block.scale2, block.shift2, -1), block.up)), block.down);
  }
  return matmul(layer_norm(x, net.scale, net.shift, -1), transpose(net.letters));
};
/// The mean cross-entropy of letters [batch, context + 1].
const auto kLoss = [](const auto& net, auto text) {
  auto given = text.at(cq::all, cq::range(0, kContext)), next = text.at(cq::all, cq::range(1, kContext + 1));
  auto logits = log_softmax(kScores(net, given), 2);
  return -mean(take_along_axis(logits, next.at(cq::all, cq::all, cq::newaxis), 2));
};

int main() {
  const std::set<char> alphabet(kText.begin(), kText.end());
  const std::vector<char> letter_of(alphabet.begin(), alphabet.end());
  std::vector<int32_t> numbers;
  for (const char c : kText) {
    numbers.push_back(static_cast<int32_t>(std::ranges::lower_bound(letter_of, c) - letter_of.begin()));
  }
  const auto text = cq::Array<int32_t>::from(numbers);
  const auto size = static_cast<int64_t>(letter_of.size()), length = static_cast<int64_t>(numbers.size());

  const auto initialize = cq::jit([=](auto key) {
    auto keys = cq::random::split(key, 10);
    size_t next = 0;
    auto normal = [&](const cq::Shape& shape) {
      return cq::random::normal<float>(keys[next++], shape) / std::sqrt(static_cast<double>(shape[0]));
    };
    auto ones = cq::full<float>({kWidth}, 1.0f), zeros = cq::zeros<float>({kWidth});
    auto block = [&] {
      return Block{normal({kWidth, 3 * kWidth}),
                   normal({kWidth, kWidth}),
                   normal({kWidth, 4 * kWidth}),
                   normal({4 * kWidth, kWidth}),
                   ones,
                   zeros,
                   ones,
                   zeros};
    };
    return Transformer{normal({size, kWidth}), normal({kContext, kWidth}), std::vector{block(), block()}, ones, zeros};
  });
  // One step of Adam on pieces that start at random letters.
  const auto step = cq::jit([=](const auto& net, const auto& m, const auto& v, auto t, auto key, auto all) {
    auto starts = cq::random::randint<int32_t>(key, {kBatch, 1}, 0, static_cast<int32_t>(length - kContext));
    auto [loss, g] = cq::value_and_grad(kLoss)(net, take(all, starts + cq::iota<int>(kContext + 1), 0));
    auto mean = 0.9 * m + 0.1 * g, square = 0.99 * v + 0.01 * (g * g);
    auto rate = 0.003 * sqrt(1 - pow(0.99, t)) / (1 - pow(0.9, t));
    auto next =
        cq::tree_map([&](auto a, auto p, auto q) { return a - rate * p / (sqrt(q) + 1e-8); }, net, mean, square);
    return std::tuple{next, mean, square, loss};
  });

  Transformer<F> net = initialize(cq::random::key(1)), m = cq::zeros_like(net), v = m;
  const auto key = cq::random::key(2);
  pictures::Numbers steps, losses;
  double average = 0;
  for (int t = 1; t <= 400; ++t) {
    F loss;
    std::tie(net, m, v, loss) = step(net, m, v, static_cast<float>(t), cq::random::fold_in(key, t), text);
    average = t == 1 ? loss.item() : 0.95 * average + 0.05 * loss.item();
    steps.push_back(t);
    losses.push_back(average);
    if (t % 100 == 0) std::cout << "step " << t << ": loss " << average << " a letter\n";
  }

  // Recites from the first letters on, always the likeliest next one: the whole text fits no context, its order does.
  const auto next_letter = cq::jit([](const auto& net, auto letters) {
    return argmax(kScores(net, letters.at(cq::newaxis)).at(0, kContext - 1), 0);
  });
  std::vector<int32_t> spoken(numbers.begin(), numbers.begin() + kContext);
  while (static_cast<int64_t>(spoken.size()) < 200) {
    const std::vector<int32_t> last(spoken.end() - kContext, spoken.end());
    spoken.push_back(next_letter(net, last).item());
  }
  std::string recited;
  for (const int32_t number : spoken) recited += letter_of[static_cast<size_t>(number)];
  std::cout << recited << "\n";
  size_t known = 0;  // words of five letters that are in the text
  for (size_t i = 0; i + 5 <= recited.size(); ++i) known += kText.find(recited.substr(i, 5)) != std::string::npos;
  pictures::Plot plot("A transformer learns two sonnets", "step", "cross-entropy of the next letter");
  plot.curve(steps, losses, "#4c78a8");
  plot.reach(0);
  plot.write("transformer.svg");
  return average < 0.5 && known > 100 ? EXIT_SUCCESS : EXIT_FAILURE;
}
