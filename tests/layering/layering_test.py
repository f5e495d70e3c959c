"""Rules of the source tree: who may include what, headers that stand alone, documents that are true.

Every rule is a function from a source tree to a list of complaints. It is tested twice: on the project, where the list
must be empty, and on a small tree that breaks the rule, where it must not be.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

ROOT = Path(os.environ.get("XGBGPU_SOURCE_DIR", Path(__file__).resolve().parents[2]))
CODE = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

# The folders of src/ from which a folder of src/ may include. Every folder stands after all that it may include, so
# there is no cycle.
ARROWS = {
    "core": "",
    "cuda": "core",
    "page": "core",
    "tree": "core cuda",
    "collective": "core cuda tree",
    "quantile": "core cuda collective",
    "matrix": "core cuda collective page quantile",
    "gradient": "core cuda collective",
    "objective": "core cuda collective gradient quantile",
    "metric": "core cuda collective objective quantile",
    "sample": "core cuda collective gradient matrix objective tree",
    "partition": "core cuda gradient matrix page sample tree",
    "histogram": "core cuda gradient matrix page partition tree",
    "split": "core cuda gradient histogram matrix sample tree",
    "growth": "core cuda collective gradient histogram matrix partition sample split tree",
    "predict": "core cuda matrix objective partition sample split tree",
    "exact": "core cuda gradient growth matrix predict quantile sample split tree",
    "rounds": "core cuda collective gradient metric objective predict",
    "encode": "core cuda",
    "backend": "collective core exact matrix predict quantile tree",
    "user_arrays": "backend collective core cuda",
    "trees_host": "backend collective core exact gradient growth histogram matrix page partition predict sample split",
    "trees_cuda": "cuda backend collective core exact gradient growth histogram matrix objective page partition predict rounds "
                  "sample split tree",
    "shards": "cuda backend collective core objective rounds tree trees_cuda",
    "backend_cuda": "backend collective core cuda encode matrix page predict shards trees_cuda user_arrays",
    "training": "backend collective core exact gradient objective page quantile rounds shards",
    "prediction": "backend collective objective predict training user_arrays",
}

# The same for the folders of plugin/.
PLUGIN_ARROWS = {
    "call": "",
    "xgb": "call",
    "errors": "call xgb",
    "models": "errors xgb",
    "params": "errors models xgb",
    "data": "call errors xgb",
    "group": "call errors params xgb",
    "matrix": "call data errors group xgb",
    "booster": "call data errors group matrix models params xgb",
    "entry": "booster call data errors group matrix models params xgb",
    "bridge": "",
}

# Benches of single stages of the engine, which include headers of src/. Every other file of bench/ enters by the front
# door, as plugin/ and cli/ do.
BENCHES_OF_STAGES = ["bench_cuda.cu", "bench_device_data.cc", "bench_encode.cc", "bench_exact.cc", "bench_metric.cc",
                     "bench_predict.cc", "bench_rank.cc", "bench_shards.cc", "bench_stages.cc", "complete_rows.h"]

# What XGBoost changed between 1.7 and 3.4 (docs/adr/0002-how-the-plugin-enters-xgboost.md). Of plugin/ these files may
# name it.
KNOW_ONE_SERIES = ["xgb/"]
OF_ONE_SERIES = [re.compile(name) for name in (
    r"GenericParameter", r"\bkCpuId\b", r"\btparam_", r"xgboost/(?:generic_parameters|context)\.h",  # the context
    r"PredictionCacheEntry", r"HostDeviceVector<\s*(?:xgboost::)?(?:detail::)?GradientPair",  # margins, gradients
    r":\s*(?:public\s+)?xgboost::(?:GradientBooster|TreeUpdater|ObjFunction|Metric|Predictor|DMatrix)\b",  # to derive from
    r"dmlc::Registry", r"xgboost/(?:tree_updater|predictor|task)\.h",                       # parts
    r"HasNodePosition", r"UpdatePredictionCache", r"UpdateTreeLeaf", r"\bObjInfo\b",         # leaves
    r"GetBatches", r"BatchSet", r"GHistIndexMatrix", r"EllpackPage", r"ExtSparsePage", r"SingleColBlock",  # pages
    r"\bbst_(?:row|idx)_t\b",                                                              # numbers of rows
    r"RegTree", r"gbtree_train_param", r"updater_seq",                                      # trees, configuration
    r"\bk(?:Number|F32)Array\b", r"\bTypeStr\b",                                           # JSON
    r"XGDMatrixCreateFromDataIter", r"XGCommunicatorAllreduce",                             # C functions
    r"XGBOOST_VER_", r"XGB_SERIES")]


# Files of other projects that documents name.
FILES_OF_OTHERS = ["cub/block/block_scan.cuh"]

# Folders with C++ and CUDA files.
SOURCES = ["base", "bench", "cli", "examples", "include", "packaging", "plugin", "src", "tests"]


def files(root: Path, *folders: str) -> Iterator[Path]:
    """All C++ and CUDA files below these folders, in a fixed order."""
    for folder in folders:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in CODE)


def includes(path: Path) -> List[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def code_folders(root: Path, top: str) -> List[str]:
    return sorted(p.name for p in (root / top).iterdir() if p.is_dir() and any(files(root, f"{top}/{p.name}")))


def host_headers(root: Path) -> List[str]:
    """XGBoost's and dmlc's headers appear in plugin/, cli/ and tests/ only."""
    return [f"{p.relative_to(root)} includes <{name}>: allowed in plugin/, cli/ and tests/ only"
            for p in files(root, "base", "include", "src", "bench", "packaging")
            for name in includes(p) if name.split("/")[0] in ("xgboost", "dmlc")]


def arrows(root: Path) -> List[str]:
    """A folder of src/ or plugin/ includes only the folders that ARROWS or PLUGIN_ARROWS allows it; base/ includes none."""
    low = [f"{p.relative_to(root)} includes {name}; allowed from base/: base/, xgbgpu/" for p in files(root, "base")
           for name in includes(p) if (root / "src" / name).is_file() or name.split("/")[0] in ("plugin", "cli")]
    return (low + arrows_between(root, "src", "ARROWS", ARROWS) +
            arrows_between(root, "plugin", "PLUGIN_ARROWS", PLUGIN_ARROWS))


def bridge_alone(root: Path) -> List[str]:
    """plugin/bridge/ includes no header of XGBoost and none of the engine: it runs before either is known to fit."""
    return [f"{p.relative_to(root)} includes {name}; allowed: bridge/, the headers of base/ without the engine's"
            for p in files(root, "plugin/bridge") for name in includes(p)
            if name.split("/")[0] in ("xgboost", "dmlc", "xgbgpu")
            or "include \"xgbgpu/" in ((root / name).read_text(encoding="utf-8") if (root / name).is_file() else "")]


def sources_compiled_once(root: Path) -> List[str]:
    """What the adapters of all series share (common_sources in plugin/CMakeLists.txt) sees no header of XGBoost or dmlc:
    types differ between series."""
    def seen(path: Path, before: Dict[Path, str]) -> Dict[Path, str]:
        for name in includes(path):
            found = next((f for f in (root / top / name for top in ("plugin", ".", "include")) if f.is_file()), Path(name))
            if found not in before:
                before[found] = name
                if found.is_file():
                    seen(found, before)
        return before

    text = (root / "plugin/CMakeLists.txt").read_text(encoding="utf-8")
    common = re.search(r"set\(common_sources\s+([^)]*)\)", text)
    if common is None:
        return ["plugin/CMakeLists.txt has no list common_sources"]
    return [f"plugin/{source} sees <{name}>; allowed in common_sources: no header of xgboost/, dmlc/"
            for source in common[1].split() for name in seen(root / "plugin" / source, {}).values()
            if name.split("/")[0] in ("xgboost", "dmlc")]


def arrows_between(root: Path, top: str, name_of_table: str, table: Dict[str, str]) -> List[str]:
    complaints = [f"{name_of_table}: {folder} stands before {other}, which it may include: is there a cycle?"
                  for i, (folder, allowed) in enumerate(table.items())
                  for other in allowed.split() if other not in list(table)[:i]]
    every = set(code_folders(root, top))
    complaints += [f"{top}/{folder}/ is not in {name_of_table} (tests/layering)" for folder in sorted(every - set(table))]
    for folder in sorted(every):
        allowed = set(table.get(folder, "").split())
        for path in files(root, f"{top}/{folder}"):
            name = str(path.relative_to(root))
            for header in includes(path):
                to = header.split("/")[0]
                if to in ("plugin", "cli"):
                    complaints.append(f"{name} includes {header}, which is in a layer above")
                elif to in every - {folder} and to not in allowed and (root / top / header).is_file():
                    complaints.append(f"{name} includes {header}; allowed from {folder}: {', '.join(sorted(allowed))}")
    return complaints


def front_door(root: Path) -> List[str]:
    """plugin/, cli/, examples/ and bench/ include xgbgpu/ and base/, and no header of src/; benches of single stages may."""
    complaints = []
    stages = [root / "bench" / name for name in BENCHES_OF_STAGES]
    for path in files(root, "plugin", "cli", "examples", "bench"):
        top = path.relative_to(root).parts[0]
        own = [name for name in includes(path) if (root / "src" / name).is_file() and not (root / top / name).is_file()]
        if path not in stages:
            complaints += [f"{path.relative_to(root)} includes {name} of src/; allowed: xgbgpu/, base/, {top}/" for name in own]
        elif not own:
            complaints.append(f"BENCHES_OF_STAGES names {path.name}, which includes no header of src/")
    return complaints


def public_classes(root: Path) -> List[str]:
    """A header of include/xgbgpu declares no class that no header of include/xgbgpu defines, but for a nested Impl."""
    texts = {p.name: re.sub(r"//.*", "", p.read_text(encoding="utf-8")) for p in files(root, "include/xgbgpu")}
    kind = r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:XGBGPU_API\s+|alignas\([^)]*\)\s*)*"
    defined = {name for text in texts.values() for name in re.findall(kind + r"(\w+)[^;{}()]*\{", text)}
    complaints = []
    for header, text in texts.items():
        declared = re.findall(r"^([ \t]*)" + kind + r"(\w+)(?:\s*:[^;{]*)?;", text, re.MULTILINE)
        declared += [("", name) for name in re.findall(r"[<(,]\s*" + kind + r"(\w+)", text)]  # where a type is used
        inner = {name for indent, name in declared if name not in defined and not (indent and name == "Impl")}
        complaints += [f"include/xgbgpu/{header} declares {name}, which no header of include/xgbgpu defines"
                       for name in sorted(inner)]
    return complaints


def public_docstrings(root: Path) -> List[str]:
    """Headers of include/xgbgpu name no file of src/."""
    return [f"{header.relative_to(root)} names {name}, a file of src/"
            for header in files(root, "include/xgbgpu")
            for name in re.findall(r"\b(?:src/)?(\w+/\w+\.(?:h|cc|cu|cuh))\b", header.read_text(encoding="utf-8"))
            if (root / "src" / name).is_file()]


def marks(root: Path) -> List[str]:
    """Only headers of include/xgbgpu mark what libxgbgpu.so shows."""
    return [f"{p.relative_to(root)} has the mark XGBGPU_API: allowed in include/xgbgpu only"
            for p in files(root, "base", "src", "plugin", "cli", "bench")
            if re.search(r"^[^/\n]*\bXGBGPU_API\b", p.read_text(encoding="utf-8"), re.MULTILINE)]


def names_of_one_series(root: Path) -> List[str]:
    """What XGBoost changed between 1.7 and 3.4 is named in plugin/xgb/; the rest of plugin/ calls what is there."""
    complaints = []
    for path in files(root, "plugin"):
        if str(path.relative_to(root / "plugin")).startswith(tuple(KNOW_ONE_SERIES)):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = re.sub(r"^\s*//.*|\s//.*", "", line)
            complaints += [f"{path.relative_to(root)}:{number} names {found.group(0)}, which differs between versions of "
                           f"XGBoost: allowed in {', '.join(KNOW_ONE_SERIES)} of plugin/ only"
                           for name in OF_ONE_SERIES for found in [name.search(code)] if found]
    return complaints


def public_headers(root: Path) -> List[str]:
    """Each header of include/xgbgpu compiles alone, as C++17, with include/ as the only folder: no CUDA, no XGBoost."""
    complaints = []
    for header in files(root, "include/xgbgpu"):
        complaints += [f"{header.relative_to(root)} includes <{name}>" for name in includes(header)
                       if re.search(r"cuda|cub/|thrust/|nccl", name)]
        command = [os.environ.get("CXX", "c++"), "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                   "-I", str(root / "include"), "-x", "c++", "-"]
        twice = f"#include <xgbgpu/{header.name}>\n" * 2  # the second time: its include guard holds
        run = subprocess.run(command, input=twice, text=True, capture_output=True)
        if run.returncode != 0:
            complaints.append(f"{header.relative_to(root)} does not compile alone:\n{run.stderr}")
    return complaints


def unmarked_interface(root: Path) -> List[str]:
    """Of include/xgbgpu, exceptions and what a source file defines have the mark XGBGPU_API: libxgbgpu.so shows them."""
    function = re.compile(r"^(?!inline |template|constexpr |XGBGPU_API |class |struct |enum |using |namespace )"
                          r"(?:\[\[\w+\]\] (?!XGBGPU_API ))?[A-Za-z][^;{}=]*?(operator==|\w+)\([^;{}]*\)(?: noexcept)?;", re.MULTILINE)
    kind = re.compile(r"^(?:class|struct) (?!XGBGPU_API )(\w+)([^;{]*)\{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
    member = re.compile(r"^  (?!using |friend )[A-Za-z~][^;{}]*\)(?: const)?(?: noexcept)?(?: override)?;", re.MULTILINE)
    thrown = re.compile(r"\b(?:std::\w+_error|\w*Error|\w+Failed|InvalidArgument|Unsupported|OutOf\w+)\b")
    complaints = []
    for header in files(root, "include/xgbgpu"):
        text = re.sub(r"//.*", "", header.read_text(encoding="utf-8"))
        complaints += [f"{header.relative_to(root)} declares {name} without XGBGPU_API" for name in function.findall(text)]
        complaints += [f"{header.relative_to(root)} declares {name}, whose functions or type the engine has, without XGBGPU_API"
                       for name, bases, body in kind.findall(text) if member.search(body) or thrown.search(bases)]
    return complaints


def map_of_the_source(root: Path) -> List[str]:
    """src/README.md names every folder of src/ that has code, and none that is not there."""
    text = (root / "src/README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:src/)?([a-z_]+)/`", text))
    have = set(code_folders(root, "src"))
    gone = [folder for folder in sorted(named - have) if not (root / folder).is_dir()]
    return ([f"src/README.md does not name src/{folder}/" for folder in sorted(have - named)] +
            [f"src/README.md names {folder}/, which is no folder" for folder in gone])


def without_code(document: Path) -> str:
    """The text without lines that are indented as code is."""
    return re.sub(r"^ {4}.*", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE)


def all_documents(root: Path) -> List[Path]:
    documents = list(root.glob("*.md"))
    for folder in ("docs", "src", "plugin", "cli", "python", "tests", "bench", "examples"):
        documents += (root / folder).rglob("*.md")
    return documents


def paths_of_no_file(root: Path) -> List[str]:
    """A path of a source file that the documents name, from the root or from a folder below it, is a file."""
    path_of_code = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.(?:h|cc|cu|cuh|py|inc|cmake))`")
    folders = ("base", "bench", "cli", "cmake", "docs", "examples", "include", "packaging", "plugin", "python", "r", "scripts", "src", "tests")
    have = [f"/{path.relative_to(root)}" for folder in folders for path in (root / folder).rglob("*")]
    return [f"{document.relative_to(root)} names {path}, which is no file" for document in sorted(all_documents(root))
            for path in path_of_code.findall(document.read_text(encoding="utf-8"))
            if path not in FILES_OF_OTHERS and not any(name.endswith(f"/{path}") for name in have)]


def dead_links(root: Path) -> List[str]:
    """Links from one document to another file of the project lead somewhere."""
    return [f"{document.relative_to(root)} links to {target}, which does not exist"
            for document in sorted(all_documents(root))
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", without_code(document))
            if not (document.parent / target).exists()]


def documented_parameters(root: Path) -> List[str]:
    """docs/parameters.md has every parameter, with its aliases, that the plugin reads; the tests that docs/testing.md names
    for it mention it."""
    source = "".join(p.read_text(encoding="utf-8") for p in files(root, "plugin"))
    names = re.findall(r"DMLC_DECLARE_FIELD\((\w+)\)", source)
    aliases = re.findall(r"DMLC_DECLARE_ALIAS\(\w+, (\w+)\)", source)
    parameters, testing = ((root / "docs" / name).read_text(encoding="utf-8") for name in ("parameters.md", "testing.md"))
    if not names:
        return ["plugin/ declares no parameter"]
    complaints = [f"docs/parameters.md does not mention `{name}`" for name in names + aliases if f"`{name}`" not in parameters]
    tests_of = {name: tests for row, tests in re.findall(r"^\| (.*?) \| ((?:`\w+`(?:, )?)+) \|$", testing, re.MULTILINE)
                for name in re.findall(r"`(\w+)`", row)}
    complaints += [f"docs/testing.md names no test of {name}" for name in names if name not in tests_of]
    for name, tests in tests_of.items():
        paths = [path for test in re.findall(r"`(\w+)`", tests) for path in (root / "tests").rglob(f"test_{test}.py")]
        if not any(path.is_file() and name in path.read_text(encoding="utf-8") for path in paths):
            complaints.append(f"docs/testing.md: no test that it names for {name} mentions it")
    return complaints


def functions_in_front(root: Path) -> List[str]:
    """XGBoost's functions that plugin/entry defines are those of its table, from which the export map is made. Each looks at
    its caller first."""
    def names(files_of: Iterator[Path], pattern: str) -> set:
        return {name for path in files_of for name in re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)}

    entry = root / "plugin/entry"
    function = r"^XGBGPU_EXPORT (?:int|bool) ((?:XG(?!BGPU)|Rabit)\w+)\("
    defined = names(entry.glob("*.cc"), function)
    checked = names(entry.glob("*.cc"), function + r"[^{;]*\) \{\n  XGBGPU_CHECK_CALLER\(")
    listed = names(entry.glob("functions.inc"), r"^XGBGPU_FUNCTION\((\w+), \d+, \d+\)$")
    if not defined or not listed:
        return ["plugin/entry/functions.inc lists no function, or plugin/entry defines none"]
    return [f"plugin/entry defines {name}, which functions.inc does not list" for name in sorted(defined - listed)] + [
        f"functions.inc lists {name}, which plugin/entry does not define" for name in sorted(listed - defined)] + [
        f"plugin/entry defines {name}, which does not begin with XGBGPU_CHECK_CALLER" for name in sorted(defined - checked)]


def json_by_hand(root: Path) -> List[str]:
    """Texts that are JSON are made by a library, whose header, a slow one, only .cc files include."""
    written = re.compile(r'\\"\s*:|R"\w*\(\s*[{\[]\s*"')
    code = list(files(root, "include", "src", "plugin", "cli"))
    complaints = [f"{p.relative_to(root)} writes JSON by hand: nlohmann-json, and XGBoost's Json, know what to escape"
                  for p in code if written.search(re.sub(r"//.*", "", p.read_text(encoding="utf-8")))]
    return complaints + [f"{p.relative_to(root)} includes <{name}>: allowed in .cc files only"
                         for p in code if p.suffix != ".cc" for name in includes(p) if name.startswith("nlohmann/")]


def members_listed_twice(root: Path) -> List[str]:
    """A comparison of five members or more binds them, so that it does not compile if a member is forgotten."""
    tied = re.compile(r"std::tie\(((?:[^();]|\([^()]*\))*)\)")
    compared = re.compile(r"operator==\s*\([^)]*\b(\w+)\s*,[^)]*\b(\w+)\s*\)[^{;]*\{(.*?)\n *\}", re.DOTALL)
    complaints = []
    for path in files(root, "include", "src", "plugin", "cli", "base"):
        text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        lists = [set(re.findall(r"\b(\w+\.\w+)\b(?!\()", match[1])) for match in tied.finditer(text)]
        lists += [set(re.findall(rf"\b{match[1]}\.(\w+)", match[3])) for match in compared.finditer(text)]
        complaints += [f"{path.relative_to(root)} lists {len(names)} members of a struct again: {', '.join(sorted(names)[:3])}, …"
                       for names in lists if len(names) >= 5]
    return complaints


def copies_that_nobody_waits_for(root: Path) -> List[str]:
    """Waiting for asynchronous copies means those that were committed; without a commit a wait returns at once."""
    def lacks(path: Path) -> bool:
        text = path.read_text(encoding="utf-8")
        return "__pipeline_memcpy_async(" in text and not ("__pipeline_commit(" in text and "__pipeline_wait_prior(" in text)

    return [f"{p.relative_to(root)} copies asynchronously without both commit and wait" for p in files(root, "src") if lacks(p)]


def sources_without_a_sentence(root: Path) -> List[str]:
    """Every file of code begins with a sentence that says what it has or does."""
    first = ((p, p.read_text(encoding="utf-8").split("\n", 1)[0]) for p in files(root, *SOURCES))
    return [f"{p.relative_to(root)} begins with {line!r}; allowed: a comment with a sentence"
            for p, line in first if not re.match(r"(///?|/\*) \S+ \S+", line)]


def decisions(root: Path) -> List[str]:
    """Every record of a decision has its number and title in the first line, and the sections that CONTRIBUTING.md names."""
    sections = re.compile(r"Context Decision Consequences Rejected( Measurements)?")
    complaints = []
    for record in sorted((root / "docs/adr").glob("[0-9]*.md")):
        text = record.read_text(encoding="utf-8")
        title, number = text.split("\n", 1)[0], record.name[:4]
        if not re.match(rf"# {number}: [A-Z\"`]", title):
            complaints.append(f"docs/adr/{record.name} begins with {title!r}; allowed: '# {number}: Title'")
        found = " ".join(re.findall(r"^## (.*)$", text, re.MULTILINE))
        if not sections.fullmatch(found):
            complaints.append(f"docs/adr/{record.name} has the sections {found}; allowed: Context, Decision, Consequences, Rejected, "
                              "Measurements if there are any")
    return complaints


def tests_that_nobody_runs(root: Path) -> List[str]:
    """Every Python suite is known to ctest: the CMakeLists.txt of tests/<suite> names it, or runs the folder."""
    complaints = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        suite = root / "tests" / path.relative_to(root / "tests").parts[0]
        known = (suite / "CMakeLists.txt").read_text(encoding="utf-8")
        code = re.sub(r"#.*|\badd_\w*test\(\w+", "", known)  # without names of groups
        words = set(re.findall(r"\w+", code))
        runs_all = re.search(r"pytest [^\n]*\$\{CMAKE_CURRENT_SOURCE_DIR\}\)", known) is not None
        name = path.stem[len("test_"):]
        if not runs_all and not words & {path.stem, name, name[len(f"{suite.name}_"):]}:
            complaints.append(f"{path.relative_to(root)} is not in {suite.name}/CMakeLists.txt")
    return complaints


# The casts down that are allowed: (file, class) → reason.
XGBOOST_ASKS = "XGBoost hands over an interface of its own, and only the cast tells whether the object is ours"
CASTS_DOWN = {
    ("plugin/entry/decorated_booster.h", "DecoratedBooster"): XGBOOST_ASKS,
    ("plugin/matrix/held_bins.cc", "HeldBins"): XGBOOST_ASKS,
    ("plugin/matrix/held_matrix.cc", "HeldMatrix"): XGBOOST_ASKS,
    ("plugin/xgb/booster.h", "XgbBooster"): XGBOOST_ASKS,
    ("plugin/xgb/objective.cc", "XgbObjective"): XGBOOST_ASKS,
}


def casts_down(root: Path) -> List[str]:
    """No interface is cast down to its implementation: a call that needs the implementation belongs to the interface."""
    folders = ("base", "include", "src", "plugin", "cli")
    code = {path: re.sub(r"//.*", "", path.read_text(encoding="utf-8")) for path in files(root, *folders)}
    derived = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:[A-Z_]+\s+)?((?:\w+::)*\w+)(?:\s+final)?\s*:\s*\w")
    deriving = {name.split("::")[-1] for text in code.values() for name in derived.findall(text)}
    target_of = r"((?:\w+::)*\w+)(?:\s+const)?\s*"
    cast = re.compile(r"\b(static|dynamic|reinterpret)_cast<\s*(?:const\s+)?" + target_of + r"[*&]")
    pointer_cast = re.compile(r"\b(static|dynamic|reinterpret)_pointer_cast<\s*(?:const\s+)?" + target_of + ">")
    found = [(str(path.relative_to(root)), kind, target) for path, text in code.items()
             for kind, target in cast.findall(text) + pointer_cast.findall(text) if target.split("::")[-1] in deriving]
    complaints = [f"{name} casts down to {target} ({kind}_cast): make the call a member of the interface"
                  for name, kind, target in found if (name, target.split("::")[-1]) not in CASTS_DOWN]
    return complaints + [f"CASTS_DOWN allows {name} a cast to {to}, which is not there" for name, to in CASTS_DOWN
                         if (name, to) not in {(file, target.split("::")[-1]) for file, _, target in found}]


# Rule → a tree that breaks it, and what the complaints must say.
BROKEN: Dict[str, Tuple[Dict[str, str], List[str]]] = {
    "host_headers": (
        {"src/split/split.cc": "#include <xgboost/data.h>\n", "bench/bench.cc": '#include "dmlc/io.h"\n'},
        ["src/split/split.cc includes <xgboost/data.h>", "bench/bench.cc includes <dmlc/io.h>"]),
    "arrows": (
        {"base/a.h": '#include "split/split.h"\n', "src/core/a.cc": '#include "split/split.h"\n', "src/split/split.h": '#include "training/trainer.h"\n',
         "src/training/trainer.h": '#include "plugin/booster.h"\n', "src/cellar/a.h": "",
         "plugin/data/array.cc": '#include "matrix/held.h"\n', "plugin/matrix/held.h": "", "plugin/attic/a.h": "",
         "src/histogram/row_feeds.cuh": '#include "split/split.h"\n'},
        ["base/a.h includes split/split.h; allowed from base/: base/, xgbgpu/",
         "src/core/a.cc includes split/split.h; allowed from core: \n",
         "src/split/split.h includes training/trainer.h; allowed from split: core, cuda, gradient, histogram, matrix, sample, tree",
         "src/training/trainer.h includes plugin/booster.h, which is in a layer above", "src/cellar/ is not in ARROWS",
         "plugin/data/array.cc includes matrix/held.h; allowed from data: call, errors, xgb", "plugin/attic/ is not in PLUGIN_ARROWS",
         "src/histogram/row_feeds.cuh includes split/split.h"]),
    "bridge_alone": (
        {"plugin/bridge/a.cc": "#include <xgboost/json.h>\n", "plugin/bridge/b.h": '#include "base/message.h"\n',
         "base/message.h": '#include "xgbgpu/error.h"\n', "plugin/bridge/c.cc": '#include "bridge/b.h"\n#include "base/quoted.h"\n',
         "base/quoted.h": ""},
        ["plugin/bridge/a.cc includes xgboost/json.h", "plugin/bridge/b.h includes base/message.h"]),
    "sources_compiled_once": (
        {"plugin/CMakeLists.txt": "set(common_sources\n  data/a.cc data/b.cc)\nset(adapter_sources data/c.cc)\n",
         "plugin/data/a.cc": '#include "data/a.h"\n', "plugin/data/a.h": '#include "base/d.h"\n#include <vector>\n',
         "base/d.h": "#include <xgboost/json.h>\n", "plugin/data/b.cc": "#include <dmlc/io.h>\n",
         "plugin/data/c.cc": "#include <xgboost/data.h>\n"},
        ["plugin/data/a.cc sees <xgboost/json.h>", "plugin/data/b.cc sees <dmlc/io.h>"]),
    "front_door": (
        {"src/split/split.h": "", "plugin/booster/a.h": '#include "split/split.h"\n', "cli/b.cc": "#include <split/split.h>\n",
         "plugin/matrix/held.h": "", "plugin/matrix/c.cc": '#include "matrix/held.h"\n', "src/matrix/held.h": "",
         "bench/d.h": '#include "split/split.h"\n', "bench/bench_stages.cc": '#include "xgbgpu/tree.h"\n'},
        ["plugin/booster/a.h includes split/split.h of src/; allowed: xgbgpu/, base/, plugin/",
         "cli/b.cc includes split/split.h of src/", "bench/d.h includes split/split.h of src/",
         "BENCHES_OF_STAGES names bench_stages.cc, which"]),
    "public_classes": (
        {"include/xgbgpu/a.h": "class Matrix;\nclass Known;\nstruct Outer {\n  struct Impl;\n};\nenum class Side : int;\n"
                               "void Use(struct Inner const&);\n",
         "include/xgbgpu/b.h": "class XGBGPU_API Known final : public Base {\n};\nclass Impl;\n"},
        ["a.h declares Matrix, which", "a.h declares Side, which", "a.h declares Inner, which", "b.h declares Impl, which"]),
    "public_docstrings": (
        {"src/metric/auc.h": "", "include/xgbgpu/metric.h": "/// As metric/auc.h says.\n", "include/xgbgpu/b.h": "// xgbgpu/metric.h\n"},
        ["include/xgbgpu/metric.h names metric/auc.h, a file of src/"]),
    "marks": (
        {"src/split/split.h": "class XGBGPU_API Split {\n};\n", "src/split/a.cc": "// XGBGPU_API is for others\n"},
        ["src/split/split.h has the mark XGBGPU_API"]),
    "names_of_one_series": (
        {"plugin/entry/a.h": "void F(xgboost::PredictionCacheEntry*);\n// PredictionCacheEntry\n",
         "plugin/entry/b.cc": "xgboost::HostDeviceVector<xgboost::GradientPair> g;\n",
         "plugin/xgb/c.h": "struct GenericParameter;\n"},
        ["plugin/entry/a.h:1 names PredictionCacheEntry", "plugin/entry/b.cc:1 names HostDeviceVector<xgboost::GradientPair"]),
    "public_headers": (
        {"include/xgbgpu/a.h": "inline std::string Name();\n", "include/xgbgpu/b.h": "#include <cuda_runtime.h>\n"},
        ["a.h does not compile alone", "b.h includes <cuda_runtime.h>"]),
    "unmarked_interface": (
        {"include/xgbgpu/a.h": "void Unmarked(int a,\n              int b);\nXGBGPU_API void Marked();\ninline void Here() {}\n"
                               "bool operator==(A const& a, A const& b);\n[[noreturn]] void Gone();\n[[noreturn]] XGBGPU_API void Seen();\n"
                               "struct Half {\n  int Count() const;\n  int a;\n};\nstruct XGBGPU_API Whole {\n  int Count();\n};\n"
                               "class Open {\n public:\n  virtual int a() const = 0;\n  int b() const { return 1; }\n};\n"
                               "class Torn : public Error {\n public:\n  using Error::Error;\n};\n"},
        ["a.h declares Unmarked without", "a.h declares operator== without", "a.h declares Gone without", "a.h declares Half, whose", "a.h declares Torn, whose"]),
    "map_of_the_source": (
        {"src/README.md": "| `gone/` |\n", "src/split/split.h": ""},
        ["does not name src/split/", "names gone/"]),
    "dead_links": (
        {"README.md": "[map](src/README.md#top) [gone](docs/gone.md#top) [web](https://example.org/x.md)\n", "src/README.md": ""},
        ["README.md links to docs/gone.md"]),
    "documented_parameters": (
        {"plugin/params.h": "DMLC_DECLARE_FIELD(max_bin)\nDMLC_DECLARE_ALIAS(learning_rate, eta)\n",
         "plugin/more.h": "DMLC_DECLARE_FIELD(max_leaves)\n", "docs/parameters.md": "| `max_bin` | eta | `max_leaves` |\n",
         "docs/testing.md": "| `max_bin` | `params` |\n", "tests/python/test_params.py": "max_depth"},
        ["does not mention `eta`", "no test that it names for max_bin", "names no test of max_leaves"]),
    "functions_in_front": (
        {"plugin/entry/models.cc": "XGBGPU_EXPORT int XGBoosterA(Handle h) {\n  XGBGPU_CHECK_CALLER(-1);\n"
                                   "XGBGPU_EXPORT int XGDMatrixB(Handle h) {\n",
         "plugin/entry/functions.inc": "XGBGPU_FUNCTION(XGBoosterA, 107, 0)\nXGBGPU_FUNCTION(XGBoosterC, 107, 300)\n"},
        ["defines XGDMatrixB, which functions.inc does not list", "lists XGBoosterC, which plugin/entry does not define",
         "defines XGDMatrixB, which does not begin with XGBGPU_CHECK_CALLER"]),
    "json_by_hand": (
        {"src/core/a.cc": 'text += "{\\"name\\": 1}";\n', "cli/b.cc": 'text = R"({"name": 1})";\n',
         "plugin/c.h": "#include <nlohmann/json.hpp>\n", "plugin/d.cc": '// {\\"name\\": 1}\n#include <nlohmann/json.hpp>\n'},
        ["src/core/a.cc writes JSON by hand", "cli/b.cc writes JSON by hand", "plugin/c.h includes <nlohmann/json.hpp>"]),
    "members_listed_twice": (
        {"src/core/a.h": "bool operator==(A const& a, A const& b) {\n"
                         "  return a.v == b.v && a.w == b.w && a.x == b.x && Same(a.y, b.y) && a.z == b.z;\n}\n",
         "src/core/b.cc": "auto const fields = [](B const& k) { return std::tie(k.v, k.w, k.x, k.y, k.z); };\n"},
        ["src/core/a.h lists 5 members of a struct again: v, w, x", "src/core/b.cc lists 5 members of a struct again: k.v, k.w, k.x"]),
    "copies_that_nobody_waits_for": (
        {"src/split/a.cu": "__pipeline_memcpy_async(to, from, 16);\n__pipeline_wait_prior(0);\n"},
        ["src/split/a.cu copies asynchronously without both commit and wait"]),
    "casts_down": (
        {"src/rounds/rows.h": "class Rows {};\nclass DeviceRows final : public Rows {\n};\n",
         "src/trees_cuda/a.cc": "auto* rows = static_cast<cuda::DeviceRows*>(given);\n// static_cast<DeviceRows*>\n",
         "src/trees_cuda/b.cc": "auto const& rows = dynamic_cast<DeviceRows const&>(given);\nauto* up = static_cast<Rows*>(own);\n",
         "src/trees_cuda/c.cc": "auto rows = std::static_pointer_cast<DeviceRows>(given);\n"},
        ["src/trees_cuda/a.cc casts down to cuda::DeviceRows (static_cast)",
         "src/trees_cuda/b.cc casts down to DeviceRows (dynamic_cast)",
         "src/trees_cuda/c.cc casts down to DeviceRows (static_cast)",
         "CASTS_DOWN allows plugin/xgb/booster.h a cast to XgbBooster, which is not there"]),
    "sources_without_a_sentence": (
        {"src/split/split.cc": '#include "split/split.h"\n// Finds splits.\n', "src/split/split_cuda.cu": "// Finds splits.\n",
         "cli/log.h": "#ifndef LOG_H_\n"},
        ["src/split/split.cc begins with '#include", "cli/log.h begins with '#ifndef"]),
    "decisions": (
        {"docs/adr/0001-a.md": "# 1. A\n\n## Context\n\n## Choice\n\n## Consequences\n\n## Rejected\n",
         "docs/adr/0002-b.md": "# 0002: B\n\n## Context\n\n## Decision\n\n## Rejected\n\n## Consequences\n"},
        ["0001-a.md begins with '# 1. A'", "0001-a.md has the sections Context Choice", "0002-b.md has the sections Context Decision Rejected"]),
    "paths_of_no_file": (
        {"docs/adr/0001-a.md": "`split/split.h`, `src/split/split.h`, `split/gone.h` and `plugin/gone/a.cc`", "src/split/split.h": ""},
        ["names split/gone.h, which", "names plugin/gone/a.cc, which"]),
    "tests_that_nobody_runs": (
        {"tests/python/CMakeLists.txt": "add_python_test(dart params)  # dart\n", "tests/python/params/test_params.py": "",
         "tests/python/booster/test_dart.py": "",
         "tests/cli/CMakeLists.txt": "add_test(NAME cli COMMAND python3 -m pytest -q ${CMAKE_CURRENT_SOURCE_DIR})\n",
         "tests/cli/test_cli.py": ""},
        ["tests/python/booster/test_dart.py is not in python/CMakeLists.txt"]),
}


class LayeringTest(unittest.TestCase):
    """One pair of tests per rule, made below."""


def add_tests(rule) -> None:
    def holds(self: LayeringTest) -> None:
        complaints = rule(ROOT)
        self.assertFalse(complaints, "\n" + "\n".join(complaints))

    def notices(self: LayeringTest) -> None:
        tree, expected = BROKEN[rule.__name__]
        with tempfile.TemporaryDirectory() as folder:
            for name in ("src", "include/xgbgpu", "plugin", "cli"):
                (Path(folder) / name).mkdir(parents=True)
            for name, text in tree.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_text(text, encoding="utf-8")
            complaints = "\n".join(rule(Path(folder)))
            for complaint in expected:
                self.assertIn(complaint, complaints)

    holds.__doc__ = rule.__doc__
    notices.__doc__ = f"A broken tree is noticed: {rule.__name__}"
    setattr(LayeringTest, f"test_{rule.__name__}", holds)
    setattr(LayeringTest, f"test_{rule.__name__}_is_checked", notices)


for rule_ in BROKEN:
    add_tests(globals()[rule_])

if __name__ == "__main__":
    if not (ROOT / "include/xgbgpu").is_dir():
        sys.exit(f"error: no source tree at {ROOT}")
    unittest.main()
