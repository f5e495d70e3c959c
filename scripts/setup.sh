# shellcheck shell=bash disable=SC2034  # the variables are used by the scripts that source this file
# Shared by the scripts that install packages, build, or bring an XGBoost (sourced, not run).
# Everything here can be repeated; a second run finds nothing to install and little to build.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Debian's own Python, because Debian's XGBoost lives there; another python3 may come first in PATH.
python=/usr/bin/python3

# To configure and build: compiler, CMake, the stock XGBoost's headers, JSON, hashes, random numbers, and what tests and
# benches link.
build_packages=(g++ make cmake libxgboost-dev libdmlc-dev nlohmann-json3-dev libxxhash-dev librandom123-dev
  libgtest-dev libgmock-dev libbenchmark-dev)

# For scripts/fuzz: libFuzzer, the sanitizers, and the OpenMP that clang compiles with.
fuzz_packages=(clang libclang-rt-dev libomp-dev)

# For scripts/debian-packages.
debian_packages=(debhelper dh-python chrpath fakeroot lintian)

# R, what its package xgboost needs, and what tests of ours need.
r_packages=(r-base-core r-cran-jsonlite r-cran-data.table r-cran-matrix r-cran-testthat)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages NAME…: says which of them are missing and installs those with apt (as root, or with sudo).
install_packages() {
  command -v dpkg-query >/dev/null || die "this script installs Debian packages and there is no dpkg here; needed: $*"
  local missing=() package
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then
    say "All Debian packages needed are installed"
    return
  fi
  say "Installing with apt (with what they need, about a minute): ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "neither root nor sudo; as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  # Hundreds of "Setting up …" lines are of no use; errors come on stderr.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# use_preset NAME: what `build` builds, and where.
use_preset() { preset=$1 build_folder=$root/build/$1; }

# The preset to build: with the CUDA backend, for one architecture so that it takes minutes, where there is a compiler.
use_preset host
why_host="no CUDA compiler (nvcc) found"
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then PATH=$PATH:/usr/local/cuda/bin; fi
if command -v nvcc >/dev/null; then use_preset cuda-dev; fi

# build TARGET: configures the preset and builds one target (and what it needs), the files of a folder as one.
build() {
  if [ "$preset" = host ]; then
    say "Building for the host backend only, in build/host: $why_host"
  else
    say "Building with the CUDA backend, in build/$preset: $(command -v nvcc)"
  fi
  cmake --preset "$preset" -DXGBGPU_UNITY=ON -DXGBGPU_WERROR="${XGBGPU_WERROR:-OFF}" -DXGBGPU_ALL_SERIES="${XGBGPU_ALL_SERIES:-OFF}"
  cmake --build --preset "$preset" --target "$1" --parallel "$(nproc)"
}

# bring_tables: pyarrow (of a version for Debian's numpy) and polars, which are no packages of Debian 12, in build/arrow,
# where the tests of tables look for them. Those tests are skipped if pip cannot reach them.
bring_tables() {
  [ ! -d build/arrow/polars ] || return 0
  say "Installing pyarrow and polars with pip, in build/arrow"
  "$python" -m pip install -q --target build/arrow --no-deps pyarrow==15.0.2 polars==2.1.0 polars-runtime-32==2.1.0 ||
    echo "pip cannot install them: tests that need them are skipped"
}

# bring_spark: pyspark (320 MB), which is no package of Debian 12 either, in build/spark. Its test needs pyarrow, too.
bring_spark() {
  [ ! -d build/spark/py4j ] || return 0
  say "Installing pyspark with pip, in build/spark"
  "$python" -m pip install -q --target build/spark --no-deps pyspark==3.5.5 py4j==0.10.9.7 ||
    echo "pip cannot install it: the test that needs it is skipped"
}

# Where scripts/host-headers and scripts/hosts put what they bring. Each thing appears there complete, or not at all.
hosts_folder=$root/build/hosts
# make_work_folder: $work, empty, on the same file system. It goes when the script ends.
make_work_folder() {
  work=$hosts_folder/.work.$$
  trap 'rm -rf "$work"' EXIT
  rm -rf "$work"
  mkdir -p "$work"
}
# put MADE FOLDER: FOLDER is now what MADE was.
put() {
  rm -rf "$2"
  mkdir -p "${2%/*}"
  mv "$1" "$2"
}
# Their exit status where a registry cannot be reached, and nothing else is wrong. CTest knows it as a skipped test.
exit_skipped=77
skipped=0
# skip REASON: says and counts what is missing because a registry cannot be reached.
skip() { printf 'skipped: %s\n' "$*"; skipped=$((skipped + 1)); }
# finish: the exit status of a script that may have skipped something.
finish() { [ "$skipped" -eq 0 ] || { echo "skipped in all: $skipped"; exit "$exit_skipped"; }; }

# releases PROJECT: the releases of it that scripts/hosts.txt has.
releases() { sed -n "s/^$1==\([^ ]*\) .*/\1/p" scripts/hosts.txt; }

# pinned VERB PROJECT RELEASE [OPTION…]: `pip VERB` of what scripts/hosts.txt names, without what it depends on. Returns 1
# if the registry cannot be reached. A file with another hash, or a release that the registry has not, is an error.
pinned() {
  local verb=$1 project=$2 release=$3 log status=0
  shift 3
  is_installed python3-pip || install_packages python3-pip
  log=$(mktemp)
  grep "^$project==$release " scripts/hosts.txt |
    "$python" -m pip "$verb" --quiet --no-deps --disable-pip-version-check --require-hashes --ignore-requires-python \
      "$@" --requirement /dev/stdin >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then cat "$log"; fi
  if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    die "$project $release: the file has another SHA-256 than the one in scripts/hosts.txt ($(sed -n 's/^ *Got *//p' "$log"))"
  fi
  if grep -q 'from versions: [0-9]' "$log"; then die "$project $release: the registry has other releases and not this one"; fi
  rm "$log"
  [ "$status" -eq 0 ]
}

# The series of XGBoost 3 that have an adapter. cmake/FindXGBoostHost.cmake names them, too.
all_series=(3.0 3.2 3.3 3.4)

# bring_series: what the adapters of newer series are compiled with, and XGBoosts of these series to test them in; all
# there are with XGBGPU_ALL_SERIES=ON. Without a registry their tests are skipped.
bring_series() {
  local status=0 series=(3.0 3.2 3.4) hosts=(debian-13 wheel-3.2.0 wheel-3.4.1)
  if [ "${XGBGPU_ALL_SERIES:-OFF}" = ON ]; then
    series=("${all_series[@]}") hosts=(debian-13 wheel-3.0.5 wheel-3.2.0 wheel-3.3.0 wheel-3.4.1)
  fi
  scripts/host-headers "${series[@]}" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq "$exit_skipped" ] || exit "$status"
  status=0
  scripts/hosts "${hosts[@]}" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq "$exit_skipped" ] || exit "$status"
}

# bring_r: R, and XGBoost's package for it, to test ours with. Those tests are skipped without them.
bring_r() {
  local status=0
  if ! install_packages "${r_packages[@]}"; then
    echo "apt cannot install R: tests that need it are skipped"
    return
  fi
  scripts/r-xgboost || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq "$exit_skipped" ] || exit "$status"
}
