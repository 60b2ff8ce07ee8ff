import CounterfoilConsole
import CounterfoilServer
import CounterfoilWeb
import Foundation

/// Pages as files, with what they load beside them, in a folder that is gone afterwards.
struct PageFolder {
    private let folder: URL
    private let renderer: PageRenderer

    /// Makes the folder for the time of `body`.
    static func run(_ body: (PageFolder) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let assets = folder.appendingPathComponent("assets")
        try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
        // A page that submits its form by itself would leave before anybody can look at it.
        for asset in Asset.all where asset != .goOnScript {
            try Data(asset.bytes).write(to: folder.appendingPathComponent(String(asset.path.dropFirst())))
        }
        try await body(PageFolder(folder: folder, renderer: PageRenderer(pages: .console, prefix: ".")))
    }

    /// Writes a page and returns the URL that a browser opens it with.
    func write(_ page: any Page, as name: String, in frame: Frame = SamplePage.frame) throws -> String {
        let file = folder.appendingPathComponent("\(name).html")
        try Data(renderer.render(page, in: frame)).write(to: file)
        return file.absoluteString
    }
}
