"""What `torchlint shapes` prints: tables of forwards as text, JSON or a page with pictures. Plain data in, text out."""
