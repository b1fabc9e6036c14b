// All that a filter is, as bytes to compare.
#pragma once

#include <bloomery/bloomery.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bloomery::test {

// Everything that a filter is, as bytes: equal if and only if the filters are.
using Image = std::vector<std::byte>;

namespace images {
inline void add(Image& image, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t end = image.size();
  image.resize(end + bytes.size());
  // With little optimization many times as fast as insert().
  std::memcpy(image.data() + end, bytes.data(), bytes.size());
}
inline void add(Image& image, std::uint64_t number) {
  add(image, std::as_bytes(std::span(&number, 1)));
}
}  // namespace images

inline Image image_of(const FilterView& filter) {
  Image image;
  images::add(image, filter.bytes());
  return image;
}
inline Image image_of(const CountingView& filter) {
  Image image;
  images::add(image, filter.bytes());
  return image;
}
inline Image image_of(const ScalableFilter& filter) {
  Image image;
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i) {
    images::add(image, filter.sub_filters()[i]->bytes());
    images::add(image, filter.inserted(i));
  }
  return image;
}
inline Image image_of(const WindowFilter& filter) {
  Image image;
  images::add(image, filter.bytes());
  images::add(image, filter.state().now);
  images::add(image, filter.state().inserted);
  images::add(image, filter.state().newest);
  for (const std::uint64_t taken : filter.state().inserted_in_slices) images::add(image, taken);
  return image;
}
inline Image image_of(const FrozenFilter& filter) {
  Image image;
  for (const auto piece : filter.pieces()) images::add(image, piece);
  return image;
}
inline Image image_of(const FilterFile& file) {
  switch (file.kind()) {
    case Kind::plain:
      break;
    case Kind::counting:
      return image_of(file.counting());
    case Kind::scalable:
      return image_of(file.scalable());
    case Kind::window:
      return image_of(file.window());
    case Kind::frozen:
      return image_of(file.frozen());
  }
  return image_of(file.view());
}

}  // namespace bloomery::test
