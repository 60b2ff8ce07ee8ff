# The command line for macOS and Linux. `.github/workflows/release.yml` fills in the version and the digest of the
# source archive; brew builds from source, because no program for macOS is signed yet.
class Counterfoil < Formula
  desc "Sign in to OAuth 2.0 and OpenID Connect servers from the command line"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/archive/refs/tags/v@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on xcode: ["26.0", :build]
  depends_on macos: :ventura
  # The QR code of `login --device` is drawn by this library, which is loaded at run time.
  depends_on "qrencode"

  uses_from_macos "swift" => :build, since: :tahoe
  uses_from_macos "zlib"

  def install
    arguments = ["--disable-sandbox", "--configuration", "release", "--product", "counterfoil"]
    arguments << "--static-swift-stdlib" if OS.linux?
    system "swift", "build", *arguments
    bin.install ".build/release/counterfoil"
    generate_completions_from_executable(bin/"counterfoil", "--generate-completion-script")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/counterfoil --version").strip
    # Without a sign-in there is no token: exit code 3, and no output.
    assert_empty shell_output("#{bin}/counterfoil token --store file:#{testpath}/tokens 2>/dev/null", 3)
  end
end
