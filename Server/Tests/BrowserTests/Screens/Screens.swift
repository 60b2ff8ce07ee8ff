import Foundation
import TestSupport

/// The screenshots in the folder that `COUNTERFOIL_SCREENS` names; without it none are saved.
///
/// `script/screens` creates those of the documentation. Values that differ between runs, such as
/// identifiers, URLs and dates, are replaced by fixed ones, so a screenshot changes only if its page does.
enum Screens {
    /// The folder; a relative path starts at the root of the repository.
    static let folder: URL? = {
        guard let path = ProcessInfo.processInfo.environment["COUNTERFOIL_SCREENS"], !path.isEmpty else { return nil }
        return URL(fileURLWithPath: path, relativeTo: Repository.root)
    }()

    /// Saves a screenshot of the open page.
    static func keep(_ name: String, of browser: Browser) async throws {
        guard let folder else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try await browser.execute("window.scrollTo(0, 0)")
        _ = try await browser.execute(steady)
        let picture = try await browser.screenshot(maximumHeight: 4000)
        _ = try await browser.execute("window.unsteady.forEach(restore => restore())")
        let drawn = try await browser.execute(fewColours, [.string(picture.base64EncodedString())])
        let bytes = { (name: String) in drawn[name]?.string.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
        guard let width = drawn["width"]?.number, let height = drawn["height"]?.number, let rows = bytes("rows") else {
            throw WebDriverError.notUnderstood("picture")
        }
        let file = PNGFile(width: Int(width), height: Int(height), palette: bytes("palette"), rows: rows)
        try file.data.write(to: folder.appendingPathComponent("\(name).png"))
    }

    /// A script that reduces a screenshot to its 256 most frequent colours, which takes a third of the
    /// space.
    ///
    /// The browser decodes and compresses the image.
    private static let fewColours = #"""
        const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
        const text = bytes => { let all = ''; for (const byte of bytes) all += String.fromCharCode(byte); return btoa(all); };
        return createImageBitmap(new Blob([bytes(arguments[0])])).then(async bitmap => {
          const { width, height } = bitmap;
          const canvas = new OffscreenCanvas(width, height).getContext('2d');
          canvas.drawImage(bitmap, 0, 0);
          const pixels = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer);
          const uses = new Map();
          for (const pixel of pixels) uses.set(pixel, (uses.get(pixel) ?? 0) + 1);
          const palette = [...uses].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 256).map(([pixel]) => pixel);
          const parts = pixel => [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];
          const distance = (a, b) => parts(a).reduce((sum, value, i) => sum + (value - parts(b)[i]) ** 2, 0);
          const places = new Map(palette.map((pixel, place) => [pixel, place]));
          for (const pixel of uses.keys()) {
            if (places.has(pixel)) continue;
            let best = 0;
            for (let i = 1; i < palette.length; i++)
              if (distance(palette[i], pixel) < distance(palette[best], pixel)) best = i;
            places.set(pixel, best);
          }
          const rows = new Uint8Array((width + 1) * height);
          for (let y = 0; y < height; y++)
            for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
          const deflated = await new Response(new Blob([rows]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer();
          return { width, height, palette: text(palette.flatMap(parts)), rows: text(new Uint8Array(deflated)) };
        });
        """#

    private static let steady = #"""
        const fixed = text => text
          .replaceAll(location.origin, 'https://photos.example.com').replaceAll(location.host, 'photos.example.com')
          .replaceAll(encodeURIComponent(location.origin), encodeURIComponent('https://photos.example.com'))
          .replace(/\bapp_[\w-]{22}(?![\w-])/g, 'app_Hs1vQ2kYp8rZt6uWx3nB4g')
          .replace(/^[\w-]{43}$/, 'mG7q0JXn4c2VtP9sLw5yRb8eKd1uHf3aZi6oQx-Tj_U')
          .replace(/\b(?=[a-z]*[0-9])[0-9a-hjkmnp-tv-z]{16}\b/, '7f3a9c21d0e84b56a1c9e3f05b7d2864')
          .replace(/\b[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}\b/g, 'WDJB-MJHT')
          .replace(/\b\d{1,2} [A-Z][a-z]+ 20\d\d\b/g, '2 June 2026')
          .replace(/(?<![:.\w])\d{1,2}:\d\d(?![:\w])/g, '10:30')
          .replace(/\b(?:Less than )?(?:\d+ (?:seconds?|minutes?)|a (?:second|minute)) ago\b/g, 'Just now')
          .replace(/\bTry again in \d+ minutes\b/g, 'Try again in 10 minutes');
        // The caret blinks.
        const caret = new CSSStyleSheet();
        caret.replaceSync('* { caret-color: transparent !important; }');
        document.adoptedStyleSheets = [caret];
        window.unsteady = [() => { document.adoptedStyleSheets = []; }];
        const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (words.nextNode()) {
          const node = words.currentNode, before = node.data;
          node.data = fixed(before);
          unsteady.push(() => { node.data = before; });
        }
        for (const field of document.querySelectorAll('textarea[readonly], input[name=user_code]')) {
          const before = field.value;
          field.value = fixed(before);
          unsteady.push(() => { field.value = before; });
        }
        """#
}
