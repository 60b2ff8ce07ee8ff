import CounterfoilConsole
import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import Foundation

/// A temporary folder with pages as files and the resources that they load.
struct PageFolder {
    private let folder: URL
    private let renderer: PageRenderer

    /// Runs `body` with a new folder.
    static func run(_ body: (PageFolder) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let assets = folder.appendingPathComponent("assets")
        try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
        // Without this script, a page that submits its form automatically stays open for the checks.
        for asset in Asset.all where asset != .goOnScript {
            try Data(asset.bytes).write(to: folder.appendingPathComponent(String(asset.path.dropFirst())))
        }
        try await body(PageFolder(folder: folder, renderer: PageRenderer(pages: .console, prefix: ".")))
    }

    /// Writes a page and returns its `file:` URL.
    func write(_ page: any Page, as name: String, in frame: Frame = SamplePage.frame) throws -> String {
        let file = folder.appendingPathComponent("\(name).html")
        try Data(renderer.render(page, in: frame)).write(to: file)
        return file.absoluteString
    }
}
