import Foundation

/// The pictures for people to look at, in the folder that `COUNTERFOIL_SCREENS` names; none are kept where it names none.
///
/// `script/screens` makes those of the documentation. What differs from run to run — identifiers, addresses, dates — stands
/// in them as something fixed, so that a picture changes only when its page does.
enum Screens {
    /// The folder; a path that is not absolute begins at the package.
    static let folder: URL? = {
        guard let path = ProcessInfo.processInfo.environment["COUNTERFOIL_SCREENS"], !path.isEmpty else { return nil }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return URL(fileURLWithPath: path, relativeTo: package)
    }()

    /// Keeps a picture of the page that is open.
    static func keep(_ name: String, of browser: Browser) async throws {
        guard let folder else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try await browser.execute(steady)
        try await browser.screenshot(to: folder.appendingPathComponent("\(name).png"), maximumHeight: 1600)
        _ = try await browser.execute("window.unsteady.forEach(restore => restore())")
    }

    private static let steady = #"""
        const fixed = text => text
          .replaceAll(location.origin, 'https://photos.example.com').replaceAll(location.host, 'photos.example.com')
          .replaceAll(encodeURIComponent(location.origin), encodeURIComponent('https://photos.example.com'))
          .replace(/\bapp_[\w-]{22}(?![\w-])/g, 'app_Hs1vQ2kYp8rZt6uWx3nB4g')
          .replace(/^[\w-]{43}$/, 'mG7q0JXn4c2VtP9sLw5yRb8eKd1uHf3aZi6oQx-Tj_U')
          .replace(/\b[0-9a-f]{16}\b/, '7f3a9c21d0e84b56')
          .replace(/\b[A-Z][a-z]+ \d{1,2}, 20\d\d\b/g, 'June 2, 2026')
          .replace(/\b\d+ (seconds|minutes) ago\b|\ba (second|minute) ago\b/g, 'just now');
        window.unsteady = [];
        const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (words.nextNode()) {
          const node = words.currentNode, before = node.data;
          node.data = fixed(before);
          unsteady.push(() => { node.data = before; });
        }
        for (const field of document.querySelectorAll('textarea[readonly]')) {
          const before = field.value;
          field.value = fixed(before);
          unsteady.push(() => { field.value = before; });
        }
        """#
}
